"""Klines of Binance's spot market, as data.binance.vision has them: no header."""

# --8<-- [start:convert]
import glob
import os

import pandas

names = ["timestamp", "open", "high", "low", "close", "volume"]
files = sorted(glob.glob("BTCUSDT-1m-*.csv"))
columns = {"names": names, "usecols": range(6)}
bars = pandas.concat(pandas.read_csv(file, **columns) for file in files)
time = bars["timestamp"]
time = time.where(time < 10**14, time // 1000)  # microseconds, from 2025 on
bars["timestamp"] = pandas.to_datetime(time, unit="ms")
os.makedirs("prices", exist_ok=True)
bars.to_csv("prices/BTCUSDT.csv", index=False)
# --8<-- [end:convert]
