"""Daily bars that Tushare wrote: `pro.daily(...).to_csv("tushare.csv")`."""

# --8<-- [start:convert]
import os

import pandas

os.makedirs("prices", exist_ok=True)
table = pandas.read_csv("tushare.csv", dtype={"trade_date": str})
table = table.rename(columns={"vol": "volume"})
table["timestamp"] = pandas.to_datetime(table["trade_date"], format="%Y%m%d")
for symbol, bars in table.sort_values("timestamp").groupby("ts_code"):
    bars.to_csv(f"prices/{symbol}.csv", index=False)
# --8<-- [end:convert]
