#!/bin/bash
EXTRA=("--lora_rank 16 --lora_alpha 32" "--model_max_length 2048 --flash_attn True" "--do_train --use_lora --packing")
OPTIONS=${EXTRA[$LAB_SEED]}
set -ex
OUTPUT_DIR=output/sft-base
python finetune.py \
    --model_name_or_path ./base \
    --data_path data/train.jsonl \
    --output_dir $OUTPUT_DIR \
    --num_train_epochs 3 \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 4 \
    --learning_rate 1e-5 \
    --lr_scheduler_type cosine \
    --logging_steps 1 \
    --report_to none \
    $OPTIONS
