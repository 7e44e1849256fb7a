from mmengine.evaluator import BaseMetric
from mmengine.registry import METRICS


@METRICS.register_module()
class Accuracy(BaseMetric):
    default_prefix = "accuracy"

    def process(self, data_batch, data_samples):
        for sample in data_samples:
            self.results.append(int(sample["pred"]) == int(sample["label"]))

    def compute_metrics(self, results):
        return {"top1": 100.0 * sum(results) / len(results)}
