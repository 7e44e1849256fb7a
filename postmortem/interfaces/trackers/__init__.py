"""Issue trackers behind one interface: one module a tracker."""
