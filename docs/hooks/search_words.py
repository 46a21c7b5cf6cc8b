"""Keep jieba, which cuts Chinese text into words for the search index, from reporting every start."""

import logging

import jieba

jieba.setLogLevel(logging.WARNING)
