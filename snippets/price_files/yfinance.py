"""Bars that yfinance wrote, from 0.2.51 on: `download(...).to_csv("yahoo.csv")`."""

# --8<-- [start:convert]
import os

import pandas

os.makedirs("prices", exist_ok=True)
table = pandas.read_csv("yahoo.csv", header=[0, 1], index_col=0)
for symbol in table.columns.unique(level="Ticker"):
    bars = table.xs(symbol, axis="columns", level="Ticker").dropna()
    bars.to_csv(f"prices/{symbol}.csv", index_label="timestamp")
# --8<-- [end:convert]
