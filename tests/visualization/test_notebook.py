"""What a notebook shows of a model."""

from html.parser import HTMLParser

import pytest

import torchkeras
from torchkeras.layers import Add, Dense, Input
from torchkeras.models import Model, Sequential


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


class Reader(HTMLParser):
    """The texts of a page, and whether its tags close in order."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.open, self.attributes = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def table(model):
    """What stands before the graph, which tests/visualization/test_svg.py looks at."""
    page, end, _ = model._repr_html_().partition("</details>")
    return page + end


def test_a_chain():
    model = Sequential([Dense(4, input_shape=(3,)), Dense(300, name="last")], name="net")
    assert table(model) == (
        "<details open><summary><b>net</b> (Sequential): 2 layers, 1,516 parameters</summary>"
        '<div style="overflow-x:auto"><table><thead><tr>'
        "<th>Layer (type)</th><th>Output Shape</th><th>Param #</th></tr></thead><tbody>"
        "<tr><td>dense_1 (Dense)</td><td>(None, 4)</td><td>16</td></tr>"
        "<tr><td>last (Dense)</td><td>(None, 300)</td><td>1,500</td></tr></tbody></table></div>"
        "<div>Total params: 1,516<br>Trainable params: 1,516<br>Non-trainable params: 0</div></details>"
    )


def test_a_graph_shows_its_connections_and_names_are_escaped():
    x = Input((4,), name="<script>alert('&')</script>")
    model = Model(x, Add(name="a")([Dense(4)(x), x]), name="<b>")
    assert Reader(model._repr_html_()).open == []
    page = Reader(table(model))
    assert page.open == []
    assert page.attributes == [("open", None), ("style", "overflow-x:auto")]
    assert "".join(page.texts).startswith("<b> (Model): 3 layers, 20 parameters")
    assert page.texts[-5:-3] == ["dense_1[0][0]", "<script>alert('&')</script>[0][0]"]


def test_a_long_model_is_folded():
    model = Sequential([Dense(1, input_shape=(1,)), *(Dense(1) for _ in range(30))])
    assert Reader(table(model)).attributes == [("style", "overflow-x:auto")]


def test_a_model_that_is_not_built_shows_its_layers():
    model = Sequential([Dense(4), Dense(2)], name="open")
    assert model._repr_html_() == (
        "<div><b>open</b> (Sequential), not built yet<ol><li>dense_1 (Dense)</li><li>dense_2 (Dense)</li></ol></div>"
    )
