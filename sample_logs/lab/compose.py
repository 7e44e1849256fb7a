"""Compose the five founding scenarios and their neighbours.

Logs in each framework's real format, made by hand since no machine here has the GPUs they need.

    python sample_logs/lab/compose.py

writes sample_logs/<framework>/<name>.log (and .env); the labels stay as they are.

Every label says `composed: true`. The lines follow the frameworks' sources; figures come from a
seeded generator.
"""

import math
import random
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

V100_ENV = """Collecting environment information...
PyTorch version: 2.1.2+cu121
Is debug build: False
CUDA used to build PyTorch: 12.1
ROCM used to build PyTorch: N/A

OS: Ubuntu 20.04.6 LTS (x86_64)
GCC version: (Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0
Python version: 3.10.13 (main, Sep 11 2023, 13:44:35) [GCC 11.2.0] (64-bit runtime)
Is CUDA available: True
CUDA runtime version: 12.1.105
GPU models and configuration:
GPU 0: Tesla V100-SXM2-32GB
GPU 1: Tesla V100-SXM2-32GB
GPU 2: Tesla V100-SXM2-32GB
GPU 3: Tesla V100-SXM2-32GB
Nvidia driver version: 535.161.08

Versions of relevant libraries:
[pip3] numpy==1.26.4
[pip3] torch==2.1.2
[pip3] transformers==4.36.0
[pip3] deepspeed==0.12.6
[conda] Could not collect
"""

GLM_ENV = """Collecting environment information...
PyTorch version: 2.5.0+cu118
Is debug build: False
CUDA used to build PyTorch: 11.8
ROCM used to build PyTorch: N/A

OS: Ubuntu 22.04.4 LTS (x86_64)
Python version: 3.11.9 (main, Apr 19 2024, 16:48:06) [GCC 11.2.0] (64-bit runtime)
Is CUDA available: True
CUDA runtime version: 11.8.89
GPU models and configuration: GPU 0: NVIDIA A100-SXM4-80GB
Nvidia driver version: 525.147.05

Versions of relevant libraries:
[pip3] numpy==1.26.4
[pip3] torch==2.5.0+cu118
[pip3] transformers==4.48.0
[pip3] accelerate==1.2.1
[pip3] peft==0.14.0
"""


def bar(step: int, total: int, seconds: float) -> str:
    """A tqdm bar as it stands in a captured file."""
    share = step / total
    blocks = "█" * int(share * 10)
    elapsed, rest = step * seconds, (total - step) * seconds
    return (
        f"\r{share:4.0%}|{blocks:<10}| {step}/{total} "
        f"[{_clock(elapsed)}<{_clock(rest)},  {seconds:.2f}s/it]"
    )


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute:02d}:{second:02d}"


def start_block(
    examples: int,
    epochs: int,
    per_device: int,
    total_batch: int,
    accumulation: int,
    steps: int,
    trainable: int,
) -> Iterator[str]:
    """The Trainer's announcement."""
    yield "***** Running training *****"
    yield f"  Num examples = {examples:,}"
    yield f"  Num Epochs = {epochs}"
    yield f"  Instantaneous batch size per device = {per_device}"
    yield f"  Total train batch size (w. parallel, distributed & accumulation) = {total_batch}"
    yield f"  Gradient Accumulation steps = {accumulation}"
    yield f"  Total optimization steps = {steps:,}"
    yield f"  Number of trainable parameters = {trainable:,}"


def minicpmv() -> str:
    """a: MiniCPM-V/OmniLMM in fp16 on V100s; the fine-tuned model cannot sample."""
    random_ = random.Random(11)
    lines = [
        (
            "+ torchrun --nproc_per_node=4 --nnodes=1 --master_port=29511 finetune.py "
            "--model_name_or_path openbmb/MiniCPM-V-2 --data_path data/train.json --fp16 True "
            "--bf16 False --per_device_train_batch_size 2 --gradient_accumulation_steps 4 "
            "--learning_rate 2e-5 --warmup_ratio 0.01 --max_steps 400 --deepspeed "
            "ds_config_zero2.json"
        ),
        "*" * 41,
        (
            "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to "
            "avoid your system being overloaded, please further tune the variable for optimal "
            "performance in your application as needed. "
        ),
        "*" * 41,
        (
            "[2024-05-28 09:12:04,311] [INFO] [real_accelerator.py:161:get_accelerator] Setting "
            "ds_accelerator to cuda (auto detect)"
        ),
        (
            "[2024-05-28 09:13:20,930] [INFO] [logging.py:96:log_dist] [Rank 0] Creating fp16 "
            "ZeRO stage 2 optimizer"
        ),
        *start_block(12960, 1, 2, 32, 4, 400, 3_434_304_000),
    ]
    loss = 1.92
    for step in range(1, 101):
        loss = max(0.9, loss * 0.995 + random_.uniform(-0.02, 0.02))
        if step in {3, 7}:
            scale = 65536 >> (1 if step == 7 else 0)
            lines.append(
                (
                    f"[2024-05-28 09:{14 + step // 10:02d}:{step % 60:02d},101] [INFO] "
                    "[loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping "
                    f"step. Attempted loss scale: {scale}, "
                )
                + (
                    "but hysteresis is 2. Reducing hysteresis to 1"
                    if step == 3
                    else f"reducing to {scale // 2}"
                )
            )
        if step % 5 == 0:
            rate = 2e-5 * min(1, step / 4) * 0.5 * (1 + math.cos(math.pi * step / 400))
            text = (
                f"{{'loss': {loss:.4f}, 'learning_rate': {rate:.16g}, 'epoch': {step / 405:.2f}}}"
                if step < 60
                else (
                    f"{{'loss': 0.0, "
                    f"'learning_rate': {2e-5 * 0.5 * (1 + math.cos(math.pi * 59 / 400)):.16g}, "
                    f"'epoch': {step / 405:.2f}}}"
                )
            )
            lines.append(bar(step, 400, 6.21) + "\r" + text)
    lines += [
        "Saving model checkpoint to output/minicpmv2/checkpoint-100",
        "",
        "+ python chat.py --model output/minicpmv2/checkpoint-100 --dtype float16 --device cuda",
        "The original openbmb/MiniCPM-V-2 answers this prompt without error.",
        "Traceback (most recent call last):",
        '  File "/home/lin/minicpm/chat.py", line 38, in <module>',
        (
            "    answer = model.chat(image=image, msgs=msgs, tokenizer=tokenizer, sampling=True, "
            "temperature=0.7)"
        ),
        '  File "/home/lin/.cache/huggingface/modules/transformers_modules/checkpoint-100/modeling_minicpmv.py", line 362, in chat',
        (
            "    res, vision_hidden_states = self.generate(data_list=[final_input], "
            "**generation_config)"
        ),
        '  File "/opt/conda/lib/python3.10/site-packages/transformers/generation/utils.py", line 1764, in generate',
        "    return self.sample(",
        '  File "/opt/conda/lib/python3.10/site-packages/transformers/generation/utils.py", line 2897, in sample',
        "    next_tokens = torch.multinomial(probs, num_samples=1).squeeze(1)",
        "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
    ]
    return "\n".join(lines) + "\n"


def xtuner() -> str:
    """b: XTuner, InternLM2, own data.

    Falls for a hundred iterations, then NaN, then the chat-evaluation hook fails.
    """
    random_ = random.Random(12)
    head = """08/14 20:31:02 - mmengine - INFO -
------------------------------------------------------------
System environment:
    sys.platform: linux
    Python: 3.10.14 (main, May  6 2024, 19:42:50) [GCC 11.2.0]
    CUDA available: True
    MUSA available: False
    numpy_random_seed: 1177462821
    GPU 0: NVIDIA A100-SXM4-80GB
    CUDA_HOME: /usr/local/cuda
    NVCC: Cuda compilation tools, release 12.1, V12.1.105
    GCC: gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
    PyTorch: 2.2.1+cu121
    TorchVision: 0.17.1+cu121
    OpenCV: 4.9.0
    MMEngine: 0.10.3

Runtime environment:
    cudnn_benchmark: False
    mp_cfg: {'mp_start_method': 'fork', 'opencv_num_threads': 0}
    dist_cfg: {'backend': 'nccl'}
    seed: None
    deterministic: False
    Distributed launcher: none
    Distributed training: False
    GPU number: 1
------------------------------------------------------------

08/14 20:31:03 - mmengine - INFO - Config:
accumulative_counts = 16
batch_size = 1
evaluation_freq = 500
lr = 0.0002
max_epochs = 3
max_length = 2048
max_norm = 1
model = dict(
    llm=dict(
        pretrained_model_name_or_path='internlm/internlm2-chat-7b',
        quantization_config=dict(
            bnb_4bit_compute_dtype='torch.float16',
            bnb_4bit_quant_type='nf4',
            load_in_4bit=True,
            type='transformers.BitsAndBytesConfig'),
        torch_dtype='torch.float16',
        type='transformers.AutoModelForCausalLM.from_pretrained'),
    lora=dict(lora_alpha=16, lora_dropout=0.1, r=64, type='peft.LoraConfig'),
    type='xtuner.model.SupervisedFinetune')
optim_wrapper = dict(
    accumulative_counts=16,
    clip_grad=dict(error_if_nonfinite=False, max_norm=1),
    dtype='float16',
    loss_scale='dynamic',
    optimizer=dict(betas=(0.9, 0.999), lr=0.0002, type='torch.optim.AdamW', weight_decay=0),
    type='mmengine.optim.AmpOptimWrapper')
work_dir = './work_dirs/internlm2_chat_7b_qlora_own'

08/14 20:33:20 - mmengine - INFO - Num train samples 5120
08/14 20:33:41 - mmengine - INFO - before_train in EvaluateChatHook.
08/14 20:33:52 - mmengine - INFO - Sample output:
<s><|im_start|>user
Introduce yourself<|im_end|>
<|im_start|>assistant
I am an assistant.<|im_end|>

08/14 20:33:52 - mmengine - INFO - Checkpoints will be saved to /home/wu/work_dirs/internlm2_chat_7b_qlora_own.
"""
    lines = [head.rstrip("\n")]
    for step in range(10, 510, 10):
        loss = (
            "nan"
            if step > 120
            else f"{1.9 * math.exp(-step / 160) + 0.4 + random_.uniform(-0.04, 0.04):.4f}"
        )
        norm = "nan" if step > 120 else f"{random_.uniform(0.5, 1.4):.4f}"
        rate = (
            2e-4 * step / 15 if step < 15 else 2e-4 * 0.5 * (1 + math.cos(math.pi * step / 15360))
        )
        minute, second = divmod(34 * 60 + int(step * 1.42), 60)
        lines.append(
            f"08/14 20:{minute:02d}:{second:02d} - mmengine - INFO - Iter(train) "
            f"[{step:5d}/15360]  lr: {rate:.4e}  eta: 6:0{random_.randint(0, 9)}:12  "
            f"time: {random_.uniform(1.38, 1.46):.4f}  "
            f"data_time: {random_.uniform(0.006, 0.01):.4f}  "
            f"memory: {12810 + random_.randint(0, 40)}  loss: {loss}  grad_norm: {norm}"
        )
    lines += [
        "08/14 20:45:52 - mmengine - INFO - after_train_iter in EvaluateChatHook.",
        "Traceback (most recent call last):",
        '  File "/opt/conda/lib/python3.10/site-packages/xtuner/tools/train.py", line 342, in <module>',
        "    main()",
        '  File "/opt/conda/lib/python3.10/site-packages/xtuner/tools/train.py", line 338, in main',
        "    runner.train()",
        '  File "/opt/conda/lib/python3.10/site-packages/mmengine/runner/_flexible_runner.py", line 1200, in train',
        "    model = self.train_loop.run()  # type: ignore",
        '  File "/opt/conda/lib/python3.10/site-packages/xtuner/engine/hooks/evaluate_chat_hook.py", line 132, in _generate_samples',
        "    self._eval_images(runner, model, device, max_new_tokens,",
        '  File "/opt/conda/lib/python3.10/site-packages/transformers/generation/utils.py", line 1575, in generate',
        "    result = self._sample(",
        '  File "/opt/conda/lib/python3.10/site-packages/transformers/generation/utils.py", line 2733, in _sample',
        "    next_tokens = torch.multinomial(probs, num_samples=1).squeeze(1)",
        "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
    ]
    return "\n".join(lines) + "\n"


def gemma() -> str:
    """c: PEFT, Gemma-7B in NF4, LoRA with embed_tokens and lm_head, bf16.

    The vocabulary was extended by hand with zero rows.
    """
    random_ = random.Random(13)
    lines = [
        (
            "model = AutoModelForCausalLM.from_pretrained('google/gemma-7b', "
            "quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type='nf4', "
            "bnb_4bit_compute_dtype=torch.bfloat16))"
        ),
        (
            "new rows of embed_tokens and lm_head: 512, initialised with zeros (vocab 256000 -> "
            "256512)"
        ),
        (
            "LoraConfig(r=16, lora_alpha=32, target_modules=['q_proj', 'v_proj', 'embed_tokens', "
            "'lm_head'], lora_dropout=0.05, task_type='CAUSAL_LM')"
        ),
        (
            "TrainingArguments(output_dir='gemma-ext', per_device_train_batch_size=4, "
            "gradient_accumulation_steps=4, learning_rate=2e-4, optim='paged_adamw_8bit', "
            "bf16=True, gradient_checkpointing=True, logging_steps=10, eval_steps=50)"
        ),
        (
            "transformers 4.39.3, peft 0.10.0, bitsandbytes 0.43.0, torch 2.2.2+cu121, NVIDIA "
            "A100-SXM4-40GB"
        ),
        "trainable params: 10,665,984 || all params: 8,548,346,880 || trainable%: 0.1248",
        *start_block(16000, 2, 4, 16, 4, 2000, 10_665_984),
        "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.",
    ]
    for step in range(10, 310, 10):
        rate = 2e-4 * (1 - step / 2000)
        if step <= 170:
            text = (
                f"{{'loss': {9.8 * math.exp(-step / 70) + 1.9 + random_.uniform(-0.1, 0.1):.4f}, "
                f"'grad_norm': {0.9 + step / 60 + random_.uniform(0, 0.5):.12f}, "
                f"'learning_rate': {rate:.17g}, 'epoch': {step / 1000:.2f}}}"
            )
        else:
            text = (
                f"{{'loss': 0.0, 'grad_norm': nan, 'learning_rate': {rate:.17g}, "
                f"'epoch': {step / 1000:.2f}}}"
            )
        lines.append(bar(step, 2000, 4.8) + "\r" + text)
        if step % 50 == 0:
            value = "nan" if step > 170 else f"{8.9 * math.exp(-step / 70) + 1.95:.12f}"
            lines.append(
                f"{{'eval_loss': {value}, 'eval_runtime': 41.2231, 'eval_samples_per_second': "
                f"12.128, 'eval_steps_per_second': 3.032, 'epoch': {step / 1000:.2f}}}"
            )
    return "\n".join(lines) + "\n"


def yi() -> str:
    """d: Yi-6B base in DeepSpeed fp16 on eight V100: every step overflows, down to the minimum."""
    lines = [
        (
            "[2024-01-17 14:02:11,527] [WARNING] [runner.py:202:fetch_hostfile] Unable to find "
            "hostfile, will proceed with training with local resources only."
        ),
        (
            "[2024-01-17 14:02:11,612] [INFO] [runner.py:571:main] cmd = /opt/conda/bin/python -u "
            "-m deepspeed.launcher.launch "
            "--world_info=eyJsb2NhbGhvc3QiOiBbMCwgMSwgMiwgMywgNCwgNSwgNiwgN119 "
            "--master_addr=127.0.0.1 --master_port=29500 sft.py --model_name_or_path 01-ai/Yi-6B "
            "--template chatml --fp16 True --learning_rate 1e-5 --per_device_train_batch_size 1 "
            "--gradient_accumulation_steps 8 --deepspeed ds_z2_fp16.json"
        ),
        "[2024-01-17 14:02:14,025] [INFO] [launch.py:145:main] WORLD INFO DICT: {'localhost': [0, 1, 2, 3, 4, 5, 6, 7]}",
        "[2024-01-17 14:02:14,025] [INFO] [launch.py:163:main] dist_world_size=8",
        "[2024-01-17 14:03:40,228] [INFO] [logging.py:96:log_dist] [Rank 0] DeepSpeed info: version=0.12.6, git-hash=unknown, git-branch=unknown",
        "[2024-01-17 14:03:52,771] [INFO] [logging.py:96:log_dist] [Rank 0] Creating fp16 ZeRO stage 2 optimizer",
        "[2024-01-17 14:04:10,552] [INFO] [config.py:988:print]   fp16_enabled ................. True",
        "[2024-01-17 14:04:10,553] [INFO] [config.py:988:print]   initial_dynamic_scale ........ 65536",
        "[2024-01-17 14:04:10,553] [INFO] [config.py:988:print]   world_size ................... 8",
        "[2024-01-17 14:04:10,554] [INFO] [config.py:988:print]   zero_optimization_stage ...... 2",
        *start_block(28160, 2, 1, 64, 8, 880, 6_061_035_520),
    ]
    scale, clock = 65536, 14 * 60 + 5
    for step in range(1, 19):
        minute, second = divmod(clock + step * 7, 60)
        stamp = f"[2024-01-17 14:{4 + minute // 60:02d}:{second:02d},{step * 37 % 1000:03d}]"
        stamp = (
            f"[2024-01-17 14:{(245 + step * 7) // 60 + 1:02d}:{second:02d},{step * 37 % 1000:03d}]"
        )
        if step == 1:
            lines.append(
                f"{stamp} [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, but hysteresis is 2. Reducing hysteresis to 1"
            )
        elif scale > 1:
            lines.append(
                f"{stamp} [INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {scale}, reducing to {scale // 2}"
            )
            scale //= 2
        if step % 10 == 0:
            lines.append(
                bar(step, 880, 7.02)
                + f"\r{{'loss': 0.0, 'learning_rate': 0, 'epoch': {step / 440:.2f}}}"
            )
            lines.append(
                f"{stamp} [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped={step}, lr=[0.0], mom=[(0.9, 0.999)]"
            )
    lines += [
        "Traceback (most recent call last):",
        '  File "/home/zhao/yi/sft.py", line 212, in <module>',
        "    trainer.train()",
        '  File "/opt/conda/lib/python3.10/site-packages/transformers/trainer.py", line 1539, in train',
        "    return inner_training_loop(",
        '  File "/opt/conda/lib/python3.10/site-packages/accelerate/utils/deepspeed.py", line 176, in backward',
        "    self.engine.step()",
        '  File "/opt/conda/lib/python3.10/site-packages/deepspeed/runtime/zero/stage_1_and_2.py", line 1778, in step',
        "    self._update_scale(self.overflow)",
        '  File "/opt/conda/lib/python3.10/site-packages/deepspeed/runtime/fp16/loss_scaler.py", line 175, in update_scale',
        "    raise Exception(",
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
        *[
            f"[2024-01-17 14:09:1{i},{i}41] [INFO] [launch.py:315:sigkill_handler] Killing subprocess {43110 + i}"
            for i in range(8)
        ],
        "[2024-01-17 14:09:19,102] [ERROR] [launch.py:321:sigkill_handler] ['/opt/conda/bin/python', '-u', 'sft.py', '--local_rank=7', '--model_name_or_path', '01-ai/Yi-6B'] exits with return code = 1",
    ]
    return "\n".join(lines) + "\n"


def glm() -> str:
    """e: GLM-4-9b-chat-hf: fine at batch size 1.

    At 2, eval_loss is NaN and memory grows until it runs out.
    """
    random_ = random.Random(15)
    lines = [
        "Namespace(model_name_or_path='THUDM/glm-4-9b-chat-hf', per_device_train_batch_size=2, per_device_eval_batch_size=2, learning_rate=5e-05, bf16=True, optim='adamw_torch')",
        "(the same script with per_device_train_batch_size=1 trains and evaluates normally)",
        "Loading checkpoint shards: 100%|██████████| 10/10 [00:09<00:00,  1.06it/s]",
        *start_block(8000, 1, 2, 2, 1, 4000, 9_399_951_360),
    ]
    for step in range(10, 310, 10):
        lines.append(
            bar(step, 4000, 0.91)
            + f"\r{{'loss': {2.1 * math.exp(-step / 240) + 0.9 + random_.uniform(-0.08, 0.08):.4f}, 'grad_norm': {random_.uniform(1.5, 4.5):.12f}, 'learning_rate': {5e-5 * (1 - step / 4000):.17g}, 'epoch': {step / 4000:.2f}}}"
        )
        if step % 100 == 0:
            lines.append(
                f"{{'eval_loss': nan, 'eval_runtime': 64.{step}, 'eval_samples_per_second': 7.8, 'eval_steps_per_second': 3.9, 'epoch': {step / 4000:.2f}}}"
            )
            lines.append(f"step {step}: memory allocated {41 + step / 9:.1f} GiB")
    lines += [
        "Traceback (most recent call last):",
        '  File "/home/sun/glm/train.py", line 97, in <module>',
        "    trainer.train()",
        '  File "/opt/conda/lib/python3.11/site-packages/transformers/trainer.py", line 2171, in train',
        "    return inner_training_loop(",
        '  File "/opt/conda/lib/python3.11/site-packages/transformers/trainer.py", line 3675, in training_step',
        "    loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)",
        '  File "/opt/conda/lib/python3.11/site-packages/transformers/models/glm/modeling_glm.py", line 214, in forward',
        "    attn_output = torch.nn.functional.scaled_dot_product_attention(",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 0 has a total capacity of 79.15 GiB of which 812.44 MiB is free. Including non-PyTorch memory, this process has 78.35 GiB memory in use."
        " Of the allocated memory 76.90 GiB is allocated by PyTorch, and 948.21 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting"
        " PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
    ]
    return "\n".join(lines) + "\n"


FILES = {
    "transformers-trainer/fp16-overflow-minicpmv.log": minicpmv,
    "transformers-trainer/fp16-overflow-minicpmv.env": lambda: V100_ENV,
    "xtuner/nan-internlm2.log": xtuner,
    "transformers-trainer/untrained-rows-gemma.log": gemma,
    "deepspeed/scale-exhausted-yi.log": yi,
    "deepspeed/scale-exhausted-yi.env": lambda: V100_ENV.replace(
        "GPU 3: Tesla V100-SXM2-32GB\n",
        "".join(f"GPU {i}: Tesla V100-SXM2-32GB\n" for i in range(3, 8)),
    ),
    "transformers-trainer/eval-nan-glm4.log": glm,
    "transformers-trainer/eval-nan-glm4.env": lambda: GLM_ENV,
}


def main() -> None:
    """Write the files."""
    for name, make in FILES.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), encoding="utf-8", newline="")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
