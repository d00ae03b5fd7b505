"""The bi-encoder of the model that ships, trained on links of Wikipedia; `python -m recipes.similarity` trains one."""
