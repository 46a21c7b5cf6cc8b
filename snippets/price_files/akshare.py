"""Daily bars that AKShare wrote: `stock_zh_a_hist(...).to_csv("akshare.csv")`."""

# --8<-- [start:convert]
import os

import pandas

names = {"日期": "timestamp", "开盘": "open", "最高": "high", "最低": "low"}
names |= {"收盘": "close", "成交量": "volume"}
os.makedirs("prices", exist_ok=True)
table = pandas.read_csv("akshare.csv", dtype={"股票代码": str})
for symbol, bars in table.rename(columns=names).groupby("股票代码"):
    bars.to_csv(f"prices/{symbol}.csv", index=False)
# --8<-- [end:convert]
