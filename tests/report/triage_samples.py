"""A triage of many failed jobs: made up, the same at every call."""

import random
from datetime import datetime, timedelta, timezone
from typing import Any

CAUSES = (
    ("distributed.network", "distributed", "Network between nodes fails", "节点间网络故障"),
    ("memory.cuda-oom", "memory", "GPU out of memory", "显存不足"),
    ("hardware.gpu-fault", "hardware", "A GPU fails", "GPU 故障"),
    ("io.storage", "io", "Storage cannot be read or written", "存储无法读写"),
    ("numerics.fp16-overflow", "numerics", "Half-precision overflow (fp16)", "半精度（fp16）溢出"),
    ("data.schema", "data", "Column, key or field missing", "缺少列、键或字段"),
    ("environment.dependency", "environment", "Packages do not fit together", "依赖冲突"),
    ("config.arguments", "config", "A setting is wrong", "配置错误"),
    ("distributed.collective-timeout", "distributed", "Collective times out", "集合通信超时"),
    ("memory.host-oom", "memory", "Host out of memory", "内存不足"),
)
LOST = ("unreadable", "crashed", "timed-out", "out-of-memory")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
STEERING = "=HYPERLINK(1)\u202egnp.exe\x1b[31m\x00\u200f"
_START = datetime(2026, 11, 16, tzinfo=timezone.utc)
_COLUMNS = (
    "identity",
    "title",
    "state",
    "cause",
    "probability",
    "group",
    "user",
    "nodes",
    "gpu_hours",
    "end",
    "reason",
    "report",
)


def both(en: str, zh: str) -> dict[str, str]:
    """A text of the contract."""
    return {"en": en, "zh": zh}


def a_triage(jobs: int = 10_000, *, groups: int = 60, has_hours: bool = True) -> dict[str, Any]:
    """The overview of so many jobs, with every part of the page in it."""
    chance = random.Random(7)
    listed = [_group(number, chance) for number in range(groups)]
    rows = [_row(number, listed, chance, has_hours=has_hours) for number in range(jobs)]
    _count(listed, rows)
    listed.sort(key=lambda one: -one["jobs"])
    causes = _causes(rows)
    _by_index(rows, causes, listed)
    judged = [row for row in rows if row[2] == "judged"]
    lost = None if not has_hours else round(sum(row[8] or 0 for row in rows), 1)
    return {
        "schema": "postmortem.triage/1",
        "tool": {"version": "1", "knowledge_base": "2", "classifier": "3"},
        "made": "2026-11-23T02:00:00Z",
        "since": "2026-11-22T02:00:00Z",
        "totals": {
            "jobs": jobs,
            "judged": len(judged),
            "not_judged": jobs - len(judged),
            "unclassified": sum(causes[row[3]]["cause"] is None for row in judged),
            "healthy": jobs // 200,
            "analyses": min(jobs, groups * 7),
            "gpu_hours": lost,
            "lost_gpu_hours": lost,
            "left_out": 12,
        },
        "causes": causes,
        "groups": listed,
        "vanished": [
            {
                "id": "g9f00",
                "cause": "io.storage",
                "title": both("Disk full", "磁盘已满"),
                "jobs": 31,
            },
            {
                "id": "g9f01",
                "cause": None,
                "title": both("ld.so: cannot open", "ld.so: cannot open"),
                "jobs": 4,
            },
        ],
        "trend": _trend(rows, causes),
        "nodes": _nodes(rows, causes),
        "users": _totals_of(rows, 6),
        "images": [
            {"name": f"registry.local/train:{tag}", "jobs": jobs // count, "gpu_hours": None}
            for tag, count in (("24.09-py3", 2), ("24.07-py3", 3), ("custom-7", 9))
        ],
        "retried": [
            {
                "failed": rows[at][0],
                "succeeded": f"{rows[at][0].split('.')[0]}.2",
                "cause": causes[rows[at][3]]["cause"] if rows[at][3] is not None else None,
                "changed": {"nodes": at % 2 == 0, "gpus": False, "image": at % 5 == 3},
                "hint": both("a hint, no proof", "只是线索，不是证明") if at == 2 else None,
            }
            for at in range(min(jobs, 30))
        ],
        "advice": {
            cause: {
                "retry": ("yes", "no", "after-change", "unknown")[at % 4],
                "text": both(f"{9 - at} of 9 repeats went through", f"重试 9 次，成功 {9 - at} 次"),
            }
            for at, (cause, *_) in enumerate(CAUSES)
        },
        "jobs": {"columns": list(_COLUMNS), "rows": rows},
    }


def a_hostile_triage() -> dict[str, Any]:
    """A small triage whose names, messages and addresses would all do harm."""
    value = a_triage(40, groups=6)
    for number, row in enumerate(value["jobs"]["rows"]):
        row[0], row[1] = f"{HOSTILE}{number}", f"{STEERING}{number}"
        row[6], row[7] = HOSTILE, [STEERING, HOSTILE]
        row[11] = ("javascript:alert(1)", "//evil.example/x", "https://evil.example/", HOSTILE)[
            number % 4
        ]
        row[10] = both(HOSTILE, HOSTILE) if row[10] else None
    for group in value["groups"]:
        group |= {"id": HOSTILE + group["id"], "title": both(HOSTILE, STEERING), "draft": HOSTILE}
        group |= {"template": STEERING, "report": "javascript:alert(1)", "example": HOSTILE}
    for cause in value["causes"]:
        cause["title"] = both(HOSTILE, HOSTILE)
    for node in value["nodes"]:
        node |= {"node": node["node"] + HOSTILE, "text": both(STEERING, HOSTILE)}
    for named in (*value["users"], *value["images"]):
        named["name"] += HOSTILE
    for again in value["retried"]:
        again |= {"failed": HOSTILE, "succeeded": STEERING}
    return value


def _group(number: int, chance: random.Random) -> dict[str, Any]:
    """A group; every sixth is without a cause, and has a signature drafted."""
    is_open = number % 6 == 5
    cause, _, en, zh = CAUSES[min(int(chance.expovariate(0.35)), len(CAUSES) - 1)]
    return {
        "id": f"g{chance.randrange(16**6):06x}",
        "cause": None if is_open else cause,
        "title": both("No cause named", "未能指出原因") if is_open else both(en, zh),
        "template": f"RuntimeError: case {number} of <path> failed on <host> after <number> s",
        "jobs": 0,
        "gpu_hours": None,
        "is_new": number % 9 == 2,
        "nodes": 0,
        "users": 0,
        "example": "",
        "report": f"groups/{number}.html",
        "fix": None
        if is_open
        else both("Ask for less memory, or for more nodes", "减少显存占用，或使用更多节点"),
        "retry": ("as-is", "after-fix", "no", "unknown")[number % 4],
        "whose": ("user", "platform", "hardware", "unknown")[number % 4],
        "probability": None if is_open else round(0.6 + chance.random() * 0.4, 3),
        "draft": f"id: draft.case-{number}\nanchors: [case {number} of]\nmatch: 'case {number} of'\n"
        if is_open
        else None,
    }


def _row(
    number: int, groups: list[dict[str, Any]], chance: random.Random, *, has_hours: bool
) -> list[Any]:
    """A job, its group by itself; the causes and the groups become indexes later."""
    group = groups[min(int(chance.expovariate(8 / len(groups))), len(groups) - 1)]
    state = "judged" if chance.random() < 0.98 else chance.choice(LOST)
    width = chance.choice((1, 1, 1, 2, 4))
    first = chance.randrange(160)
    end = _START + timedelta(minutes=chance.randrange(7 * 24 * 60))
    identity = f"{4_200_000 + number}.1"
    is_judged = state == "judged"
    return [
        identity,
        f"{4_200_000 + number}" if number % 5 else f"sft-run-{number}",
        state,
        None,
        group["probability"] if is_judged else None,
        group if is_judged else None,
        f"user{int(chance.expovariate(0.08)):02d}",
        [f"gpu-{(first + step) % 160:03d}" for step in range(width)],
        round(chance.expovariate(0.05), 2) if has_hours and number % 11 else None,
        end.strftime("%Y-%m-%dT%H:%M:%SZ") if number % 13 else None,
        None if is_judged else both(f"its log is broken: {state}", f"日志已损坏：{state}"),
        None,
    ]


def _count(groups: list[dict[str, Any]], rows: list[list[Any]]) -> None:
    for group in groups:
        own = [row for row in rows if row[5] is group]
        hours = [row[8] for row in own if row[8] is not None]
        group |= {
            "jobs": len(own),
            "gpu_hours": round(sum(hours), 1) if hours else None,
            "nodes": len({node for row in own for node in row[7]}),
            "users": len({row[6] for row in own}),
            "example": own[0][0] if own else "",
        }


def _causes(rows: list[list[Any]]) -> list[dict[str, Any]]:
    titles = {cause: (category, both(en, zh)) for cause, category, en, zh in CAUSES}
    titles[None] = ("", None)  # type: ignore[index, assignment]
    found = []
    for cause, (category, title) in titles.items():
        own = [row for row in rows if row[5] is not None and row[5]["cause"] == cause]
        hours = [row[8] for row in own if row[8] is not None]
        found.append(
            {
                "cause": cause,
                "title": title,
                "category": category or None,
                "jobs": len(own),
                "gpu_hours": round(sum(hours), 1) if hours else None,
                "groups": len({row[5]["id"] for row in own}),
            }
        )
    return sorted((one for one in found if one["jobs"]), key=lambda one: -one["jobs"])


def _by_index(
    rows: list[list[Any]], causes: list[dict[str, Any]], groups: list[dict[str, Any]]
) -> None:
    by_cause = {one["cause"]: at for at, one in enumerate(causes)}
    by_id = {one["id"]: at for at, one in enumerate(groups)}
    for row in rows:
        if (group := row[5]) is not None:
            row[3], row[5] = by_cause[group["cause"]], by_id[group["id"]]
            row[11] = group["report"] if group["example"] == row[0] else None


def _trend(rows: list[list[Any]], causes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for at in range(28):
        begin = _START + timedelta(hours=6 * at)
        span = [f"{one:%Y-%m-%dT%H:%M:%SZ}" for one in (begin, begin + timedelta(hours=6))]
        own = [row for row in rows if row[9] and span[0] <= row[9] < span[1]]
        count: dict[str, int] = {}
        for row in own:
            cause = "" if row[3] is None else causes[row[3]]["cause"] or ""
            count[cause] = count.get(cause, 0) + 1
        found.append({"from": span[0], "to": span[1], "jobs": len(own) + 5, "causes": count})
    return found


def _nodes(rows: list[list[Any]], causes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for node in row[7]:
            one = found.setdefault(
                node, {"node": node, "jobs": 0, "failed": 0, "expected": 0.0, "causes": {}}
            )
            one["jobs"] += 2
            one["failed"] += 1
            if row[3] is not None and (cause := causes[row[3]]["cause"]):
                one["causes"][cause] = one["causes"].get(cause, 0) + 1
    listed = sorted(found.values(), key=lambda one: -one["failed"])
    for at, one in enumerate(listed):
        one |= {
            "expected": round(one["failed"] * (0.4 if at < 3 else 0.95), 2),
            "p": 1e-9 if at < 3 else 0.3,
            "q": 1e-7 if at < 3 else 0.6,
            "is_outlier": at < 3,
            "alike": ["gpu-190", "gpu-191"] if at == 1 else [],
            "witness": both("its log names Xid 79", "其日志指出 Xid 79") if at == 0 else None,
            "text": both(
                f"{one['failed']} jobs failed here, more than on others with like jobs; "
                + ("its log names Xid 79" if at == 0 else "the counts do not show why"),
                f"此处有 {one['failed']} 个作业失败，多于其他节点；"
                + ("其日志指出 Xid 79" if at == 0 else "计数本身不说明原因"),
            )
            if at < 3
            else None,
        }
    return listed


def _totals_of(rows: list[list[Any]], column: int) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = row[column]
        one = found.setdefault(name, {"name": name, "jobs": 0, "failed": 0, "gpu_hours": None})
        one["jobs"] += 1
        one["failed"] += 1
        if row[8] is not None:
            one["gpu_hours"] = round((one["gpu_hours"] or 0) + row[8], 2)
            one["lost_gpu_hours"] = one["gpu_hours"]
    return sorted(found.values(), key=lambda one: -one["jobs"])
