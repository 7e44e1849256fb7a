from mmengine.hooks import Hook


class LabelCountHook(Hook):
    """How many labels of each sample count for the loss."""

    def before_train(self, runner):
        samples = runner.train_dataloader.dataset
        counts = sorted(sum(label >= 0 for label in sample["labels"]) for sample in samples)
        runner.logger.info(f"{len(samples)} samples, tokens {min(samples['length'])} to {max(samples['length'])}, labels that are not -100: min {counts[0]}, median {counts[len(counts) // 2]}, max {counts[-1]}")
