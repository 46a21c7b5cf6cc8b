"""The forms of price files that are no plain text: `made_by` in docs/data/data_forms/."""

import gzip
import zipfile


def binance_archive(folder):
    """Write two months of klines since 2025, each in its .zip."""
    for month, numbers in (("01", (0,)), ("02", (1, 2))):
        name = f"ACMEUSDT-1m-2025-{month}"
        rows = [
            f"{1738367940000000 + i * 60_000_000},{10 + i},{12 + i},{9 + i},{11 + i},{100 + i},"
            f"{1738367999999999 + i * 60_000_000},1100,7,50,550,0"
            for i in numbers
        ]
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}.csv", "\n".join(rows) + "\n")


def polygon_archive(folder):
    """Write two days of bars by the minute of two tickers."""
    for day, first, numbers in (("2024-01-02", 0, (0, 1)), ("2024-01-03", 1440 - 2, (2,))):
        rows = ["ticker,volume,open,close,high,low,window_start,transactions"]
        for ticker in ("ACME", "EMCA"):
            for i in numbers:
                start = (1_704_205_800 + 60 * (first + i)) * 10**9
                rows.append(f"{ticker},{100 + i},{10 + i},{11 + i},{12 + i},{9 + i},{start},7")
        with gzip.open(folder / f"{day}.csv.gz", "wt") as file:
            file.write("\n".join(rows) + "\n")


def tdx_text(folder):
    """Write the export of TDX: GBK, a title, padded names, tabs, and the source in the last line."""
    rows = [f"2024/01/{2 + i:02}\t{10 + i}\t{12 + i}\t{9 + i}\t{11 + i}\t{100 + i}\t1100" for i in range(3)]
    names = "\t".join(f"{name:>6}" for name in ("日期", "开盘", "最高", "最低", "收盘", "成交量", "成交额"))
    lines = ["600519 示例 日线 前复权", names, *rows, "#数据来源:通达信", ""]
    (folder / "SH#600519.txt").write_bytes("\r\n".join(lines).encode("gbk"))
