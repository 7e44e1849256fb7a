"""Labels of the user's own figures, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here: the
figures (`report.key_figures`).
"""

from collections.abc import Mapping
from typing import Final

FIGURES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "figure.shapes": "Shapes",
        "figure.batch-sizes": "Batch of input and target",
        "figure.elements": "Elements",
        "figure.channels": "Channels",
        "figure.index": "Index and size",
        "figure.unpacked": "Values expected and there",
        "figure.types": "Data types",
        "figure.devices": "Devices",
        "figure.key": "Key",
        "figure.there": "What is there",
        "figure.attribute": "Attribute",
        "figure.name": "Name",
        "figure.argument": "Argument",
        "figure.module": "Module",
        "figure.path": "Path",
        "figure.asked": "Memory asked for",
        "figure.free": "Memory free",
        "figure.total": "Memory of the card",
        "figure.allocated": "Allocated by PyTorch",
        "figure.timeout": "Collective and its limit",
        "figure.good-step": "Last good step",
        "figure.last-step": "Last step",
        "figure.process": "Process",
        "figure.after": "From the failure to the end",
        "own-code": "Your code",
        "own-code.in": "{place} in {function}",
    },
    "zh": {
        "figure.shapes": "形状",
        "figure.batch-sizes": "输入与目标的 batch size",
        "figure.elements": "元素个数",
        "figure.channels": "通道数",
        "figure.index": "下标与长度",
        "figure.unpacked": "期望与实际的个数",
        "figure.types": "数据类型",
        "figure.devices": "设备",
        "figure.key": "键",
        "figure.there": "现有内容",
        "figure.attribute": "属性",
        "figure.name": "名称",
        "figure.argument": "参数",
        "figure.module": "模块",
        "figure.path": "路径",
        "figure.asked": "申请的显存",
        "figure.free": "空闲显存",
        "figure.total": "显存总量",
        "figure.allocated": "PyTorch 已分配",
        "figure.timeout": "集合通信与时限",
        "figure.good-step": "最后正常的一步",
        "figure.last-step": "最后一步",
        "figure.process": "进程",
        "figure.after": "从故障到日志结束",
        "own-code": "你的代码",
        "own-code.in": "{place}，函数 {function}",
    },
}
