"""The live part of the request list: a word that there is news. The list itself stays still under its reader's eyes."""

from omniroute_site.dashboard.cells import Cells, draw


def request_cells(old: str | None, new: str) -> Cells:
    """What a page that knows of `old` needs to hear of `new`, the id of the newest request: it asks how many fit its filter."""
    return {} if old == new else {"requests-news": draw("requests_news", newest=new)}
