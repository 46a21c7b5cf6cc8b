"""A page that does not build leaves the last good pages in place."""

from types import SimpleNamespace

from tools import serve_site
from tools.build_site import BuildFailed


def test_a_failed_build_takes_nothing_away(tmp_path, monkeypatch, capsys):
    first = tmp_path / "nothing-yet"
    first.mkdir()
    server = SimpleNamespace(root=str(first))
    works = [True]

    def build(folder, strict, site_url):
        (folder / "404.html").write_text(f"built {len(list(tmp_path.iterdir()))}")
        if not works[0]:
            raise BuildFailed("the en site did not build")

    monkeypatch.setattr(serve_site, "build", build)
    assert serve_site.not_found(server, 404) is None
    serve_site.rebuild(server, tmp_path, "http://127.0.0.1:8000/")
    good = serve_site.not_found(server, 404)
    assert good.startswith(b"built")
    works[0] = False
    serve_site.rebuild(server, tmp_path, "http://127.0.0.1:8000/")
    assert "error: the en site did not build; the pages of before are still served" in capsys.readouterr().err
    assert serve_site.not_found(server, 404) == good
    assert serve_site.not_found(server, 500) is None
    works[0] = True
    serve_site.rebuild(server, tmp_path, "http://127.0.0.1:8000/")
    assert len(list(tmp_path.iterdir())) == 1  # older builds are gone
