"""The examples of each command's help and of the manual page. Each is run by `tests/test_help.py`."""

from __future__ import annotations

Example = tuple[str, str]
"""What it does, and the line as it is typed."""

# "" is the program without a command. A line fits a terminal of 80 columns with the indent of the help.
EXAMPLES: dict[str, tuple[Example, ...]] = {
    "": (
        ("Index two folders, then ask", "semantic-search add ~/notes ~/code/my-api"),
        ("Text first, then vectors", "semantic-search index"),
        ("In your own words, in your language", 'semantic-search search "коли висаджувати розсаду"'),
    ),
    "add": (
        ("Two folders", "semantic-search add ~/notes ~/code/my-api"),
        ("The folder you are in", "semantic-search add ."),
    ),
    "list": (
        ("Names and paths", "semantic-search list"),
        ("For a script", "semantic-search list --json"),
    ),
    "remove": (
        ("Forget a folder and its passages", "semantic-search remove my-api"),
        ("Forget it, and keep what was made of it", "semantic-search remove ~/notes --keep-index"),
    ),
    "config": (
        ("Every setting, and where it comes from", "semantic-search config"),
        ("Ten results instead of five", "semantic-search config defaultTopK 10"),
        ("Leave more files out", """semantic-search config defaultIgnorePatterns '["*.min.js"]'"""),
    ),
    "index": (
        ("Every configured folder", "semantic-search index"),
        ("One of them, searchable by words alone", "semantic-search index notes --no-embed"),
        ("Read everything again", "semantic-search index ~/notes --force"),
    ),
    "watch": (
        ("Until Ctrl-C", "semantic-search watch"),
        ("One folder, without vectors", "semantic-search watch ~/notes --no-embed"),
    ),
    "search": (
        ("In your own words", "semantic-search search how do we restore the database"),
        ("Only some files", "semantic-search search token bucket --in my-api --lang go"),
        ("The passages themselves", "semantic-search search розсада томатів -C 2"),
        ("Open the second hit in your editor", "semantic-search search retry --editor --hit 2"),
    ),
    "related": (
        ("What is like the passage at line 3", "semantic-search related ~/notes/overview.md:3"),
        ("Only the files", "semantic-search related ~/notes/overview.md:3 --files -k 10"),
    ),
    "gather": (
        ("Something for an agent to read", "semantic-search gather how are tokens counted"),
        ("Within a budget", "semantic-search gather journal --max-tokens 2000 -C 3"),
    ),
    "grep": (
        ("Lines, in documents too", 'semantic-search grep "bucket|розсада"'),
        ("As it is written", 'semantic-search grep -F -s "burst" --in my-api'),
        ("Open the first in your editor", "semantic-search grep burst --glob '*.go' --editor"),
    ),
    "cat": (
        ("A whole file", "semantic-search cat notes/overview.md"),
        ("Lines of a document as they were found", "semantic-search cat ~/notes/overview.md:1-5"),
    ),
    "status": (
        ("How much is indexed, and what waits", "semantic-search status"),
        ("Why a file is not found", "semantic-search status --skipped"),
    ),
    "doctor": (
        ("When something is not as it should be", "semantic-search doctor"),
        ("For a bug report", "semantic-search doctor --json"),
    ),
    "export": (
        ("The whole index in one file", "semantic-search export index.sse"),
        ("One folder of it", "semantic-search export notes.sse --in notes"),
    ),
    "import": (
        ("On a machine with the same folders", "semantic-search import index.sse"),
        ("Where a folder is elsewhere", "semantic-search import index.sse --map notes=~/notes"),
    ),
    "mcp": (
        ("The configured folders", "semantic-search mcp"),
        ("One folder and nothing else", "semantic-search mcp --root ~/code/my-api"),
    ),
    "init": (
        ("Claude Code, for the project you are in", "semantic-search init"),
        ("Cursor, for all projects", "semantic-search init --client cursor --user --yes"),
        ("Undo it", "semantic-search init --client cursor --user --remove --yes"),
    ),
    "completion": (
        ("Bash, in this shell", 'eval "$(semantic-search completion bash)"'),
        (
            "Bash, for good",
            "cd ~/.local/share/bash-completion/completions\n"
            "semantic-search completion bash > semantic-search",
        ),
        ("Zsh, where fpath names ~/.zfunc", "semantic-search completion zsh > ~/.zfunc/_semantic-search"),
        (
            "Fish",
            "cd ~/.config/fish/completions\nsemantic-search completion fish > semantic-search.fish",
        ),
    ),
}
