"""Addresses in a built site: one that loads from another host or leads nowhere is found, wherever it is."""

import pytest

from tools.checks.site_addresses import check

ADDRESS = "https://me.example/handbook/"
PAGE = """<!doctype html><html><head><link rel="stylesheet" href="../style.css">
<link rel="canonical" href="https://me.example/handbook/guide/">
<link rel="alternate " hreflang="zh" href="https://other.example/"></head>
<body><h1 id="top">Guide</h1><h2 id="比较">比较</h2>
{}
<a href="..">home</a> <a href="#top">up</a> <a href="../guide/#%E6%AF%94%E8%BE%83">down</a>
<a href="https://me.example/handbook/style.css">style</a> <a href="https://elsewhere.example/x#y">away</a>
<a href="mailto:me@me.example">mail</a> <a href="javascript:void(0)">nothing</a>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="> <svg xmlns="http://www.w3.org/2000/svg"></svg>
<style>/* url(https://comment.example/) */ p {{ background: url("../style.css") }}</style>
<script src="../own.js"></script><script>const half = 1 // 2</script></body></html>"""


@pytest.fixture
def site(tmp_path):
    """Return the folder of a site without a fault: two pages, a stylesheet, an own script, the theme's."""
    theme = tmp_path / "assets/javascripts"
    theme.mkdir(parents=True)
    (theme / "bundle.1.min.js").write_text('load("https://cdn.example/mermaid.js")', encoding="utf-8")
    (tmp_path / "own.js").write_text("// see //notes\nconst path = '/a//b'", encoding="utf-8")
    (tmp_path / "style.css").write_text("a { background: url(assets/javascripts/bundle.1.min.js) }")
    (tmp_path / "index.html").write_text('<a href="guide/">guide</a>', encoding="utf-8")
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide/index.html").write_text(PAGE.format(""), encoding="utf-8")
    return tmp_path


def test_a_site_without_a_fault(site):
    assert check(site, ADDRESS) == []


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<img src="https://a.example/x.png">', "loads from another host: https://a.example/x.png"),
        ('<img srcset="../own.js 1x, //a.example/x.png 2x">', "loads from another host: //a.example/"),
        ('<script src="//a.example/x.js"></script>', "loads from another host"),
        ('<link rel="preload stylesheet" href="http://a.example/x.css">', "loads from another host"),
        ('<link rel="preconnect" href="https://a.example">', "loads from another host"),
        ('<iframe src="https://a.example/"></iframe>', "loads from another host"),
        ('<video poster="https://a.example/x.png"></video>', "loads from another host"),
        ('<object data="https://a.example/x.svg"></object>', "loads from another host"),
        ('<svg><image xlink:href="https://a.example/x.png"/></svg>', "loads from another host"),
        ('<form action="https://a.example/"></form>', "loads from another host"),
        ('<base href="https://a.example/">', "loads from another host"),
        ('<p style="background: url(https://a.example/x)">', "loads from another host"),
        ("<style>@import 'https://a.example/x.css';</style>", "loads from another host"),
        (
            "<style>@font-face { src: url('//a.example/x.woff2') }</style>",
            "loads from another host: //a.example/x.woff2",
        ),
        ('<script>fetch("https://a.example/x")</script>', "loads from another host"),
        ("<script>fetch(`//a.example/x`)</script>", "loads from another host"),
        ('<a href="../nothing/">x</a>', "leads nowhere: ../nothing/"),
        ('<a href="/guide/">x</a>', "leads nowhere: /guide/"),
        ('<img src="x.png">', "leads nowhere: x.png"),
        ('<a href="#nothing">x</a>', "leads to a place that guide/index.html does not have: #nothing"),
        ('<a href="../#top">x</a>', "leads to a place that index.html does not have: ../#top"),
    ],
)
def test_a_fault_on_a_page(site, html, found):
    (site / "guide/index.html").write_text(PAGE.format(html), encoding="utf-8")
    (complaint,) = check(site, ADDRESS)
    assert complaint.startswith(f"guide/index.html: {found}")


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("style.css", "@import url(https://a.example/x.css);", "loads from another host"),
        ("style.css", "@font-face { src: url(x.woff2) }", "leads nowhere: x.woff2"),
        (
            "own.js",
            'new WebSocket("wss://a.example/")',
            "loads from another host: wss://a.example/",
        ),
    ],
)
def test_a_fault_in_another_file(site, file, text, found):
    (site / file).write_text(text, encoding="utf-8")
    (complaint,) = check(site, ADDRESS)
    assert complaint.startswith(f"{file}: {found}")


def test_nothing_to_check_is_a_fault(tmp_path):
    (complaint,) = check(tmp_path, ADDRESS)
    assert "no page with an address to check" in complaint
