"""Read lines of known shapes many at once, as columns.

How it works, from the bottom:

1. `number_columns`: a line with its numbers left open, and the same line with other numbers in it,
   in other spellings: what tells whether a number matters. Figures of such lines are parsed by
   column.
2. `trials`: what the rules do on one line, and what the slow way reads from a unit of lines. Asked
   for a line and for its variants, the rules tell what they do on every line of that shape
   (`rule_verdicts`): nothing, a finding each, a figure of the machine each. Of a rule that looks at
   several lines the first may tell that it holds, or that no match of it begins there: then it is
   asked where a line behind has a word of its matches. Else it is asked each time, and the shape
   tells what the others do.
3. `line_shapes`: the shapes that one source has taught, and what follows from a line of each. How
   full a bar is stays as open as its figures; any figures that a learnt template takes
   (`extraction.template_reader`) are part of it. Nothing here knows a format: the readers and rules
   of the slow way are asked, and their answers are the only truth. `shaped_lines`: single lines of
   such shapes, and literals in their rows that the shapes do not account for.
4. `row_cutter`: a stretch of a source is cut at all lines of its most frequent shapes by one
   combined pattern. What lies between is a gap, and is read the ordinary way. Where its lines have
   got another shape meanwhile, the rest of the stretch is cut anew (`cut_regions`).
5. `row_columns`: the columns of such rows put into series in the order of the log: whatever stands
   before a line of a gap is put there before that line is looked at. `bar_draws`: the same for
   bars, of which the last draw at each position counts.
6. `units`: what a line with one name and one figure says hangs on the lines around it. So the lines
   from one record's end to the next are learnt as one: the unit is read between those beside it
   while its numbers are changed. `row_cutter` cuts a region at units too, and takes those that
   stand between two of their kind.

`extraction.table_rows` does the same for rows of a printed table that touch each other.

The result is the same as that of the slow way, line by line; what cannot be proved to be so is left
to it.
"""
