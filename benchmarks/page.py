"""How large the page of a huge log is, and how soon it can be used.

Beside it stands the page of the same log's first hundred lines.

    python benchmarks/page.py [--megabytes 500] [--folder FOLDER]

Both pages are opened in turn, in one run of Chromium, and the shortest of the times is taken: what
is told is their ratio. Needs Chromium on the path and the module `playwright`.
"""

import argparse
import itertools
import shutil
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

import postmortem

STEPS_BETWEEN_WARNINGS: Final = 40
LONG: Final = 5_000
ROUNDS: Final = 5
CHUNK: Final = 20_000
USABLE: Final = """() => {
  const [entry] = performance.getEntriesByType("navigation");
  const { domInteractive, loadEventEnd, responseEnd } = entry;
  return { parsed: domInteractive - responseEnd, loaded: loadEventEnd - responseEnd };
}"""
DRAWN: Final = """() => new Promise((done) => {
  const look = () => {
    if (document.querySelector("canvas")) done(performance.now());
    else setTimeout(look, 5);
  };
  document.querySelector(".charts")?.scrollIntoView({ behavior: "instant" });
  look();
})"""
SWITCHED: Final = """() => new Promise((done) => {
  const begin = performance.now();
  document.getElementById("language-zh").click();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
})"""


def write_log(path: Path, size: int) -> None:
    """Write a run of the Trainer on four ranks that ends out of memory.

    Metrics, warnings, long lines, evaluations, checkpoints.
    """
    with path.open("w", encoding="utf-8") as log:
        log.write(
            "[INFO|trainer.py:2406] ***** Running training *****\n  Num examples = 1,000,000\n "
            " Instantaneous batch size per device = 8\n"
        )
        step = 0
        while log.tell() < size:
            log.write("".join(lines_of(number) for number in range(step, step + CHUNK)))
            step += CHUNK
        log.write(
            'Traceback (most recent call last):\n  File "/opt/app/train.py", line 88, in <module>\n'
            "    trainer.train()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate"
            " 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.31 GiB is free. Process"
            " 4242 has 77.83 GiB memory in use.\n",
        )


def lines_of(step: int) -> str:
    """Give what one step prints."""
    loss = 8.0 / (1 + step / 500) + 0.3 * ((step * 7919) % 97) / 97
    text = (
        f"{{'loss': {loss:.4f}, 'grad_norm': {1 + (step % 13) / 7:.4f}, 'learning_rate':"
        f" {1e-4 / (1 + step / 1e5):.6e}, 'epoch': {step / 1e4:.2f}}}\n"
    )
    if step % STEPS_BETWEEN_WARNINGS == 0:
        text += (
            f"[rank{step % 4}]:W1120 10:00:00.000000 4242 warnings.py:110]"
            f" /opt/app/data.py:{step % 300}: UserWarning: sample {step} is longer than the"
            " window\n"
        )
    if step % 1000 == 0:
        text += (
            f"{{'eval_loss': {loss + 0.1:.4f}, 'epoch': {step / 1e4:.2f}}}\nSaving model checkpoint"
            f" to out/checkpoint-{step}\n" + "x" * LONG + "\n"
        )
    return text


def usable(page: Page, address: str) -> dict[str, float]:
    """Open a page and tell, in milliseconds, how soon it can be used.

    When it was parsed and loaded, when its first curve could be used, and how long a switch of the
    language takes.
    """
    page.goto(address, wait_until="commit")
    page.wait_for_load_state("domcontentloaded")
    drawn = page.evaluate(DRAWN)
    page.wait_for_load_state("networkidle")
    return page.evaluate(USABLE) | {"drawn": drawn, "switched": page.evaluate(SWITCHED)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--folder", type=Path, help="keep the logs and the pages here")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="postmortem-page-"))
    folder.mkdir(parents=True, exist_ok=True)
    pages = written(folder, arguments.megabytes)
    rounds = opened(pages)
    for what in ("parsed", "loaded", "drawn", "switched"):
        best = {name: min(times[name][what] for times in rounds) for name in pages}
        print(
            f"{what}: {best['huge']:.0f} ms, the small page {best['small']:.0f} ms:"
            f" {best['huge'] / max(best['small'], 0.1):.2f} times"
        )


def written(folder: Path, megabytes: int) -> dict[str, Path]:
    """Write a huge log, one of its first hundred lines, and the page of each."""
    huge, small = folder / "huge.log", folder / "small.log"
    if not huge.exists():
        write_log(huge, megabytes << 20)
    with huge.open(encoding="utf-8") as lines:
        small.write_text("".join(itertools.islice(lines, 100)), encoding="utf-8")
    pages = {}
    for log in (huge, small):
        pages[log.stem] = log.with_suffix(".html")
        pages[log.stem].write_text(postmortem.analyze(log).render("html"), encoding="utf-8")
        print(
            f"{log.stem}: log {log.stat().st_size / 1e6:,.1f} MB, page"
            f" {pages[log.stem].stat().st_size / 1e6:.3f} MB"
        )
    return pages


def opened(pages: dict[str, Path]) -> list[dict[str, dict[str, float]]]:
    """Open each page a few times in a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        rounds = [
            {name: usable(browser.new_page(), path.as_uri()) for name, path in pages.items()}
            for _ in range(ROUNDS)
        ]
        browser.close()
    return rounds


if __name__ == "__main__":
    main()
