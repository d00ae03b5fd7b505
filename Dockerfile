# The service, offline and without rights: docker build -t parlink . && docker run -p 8000:8000 -e PARLINK_API_KEY parlink
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/parlink
# The address of PyTorch's wheels without CUDA (--build-arg TORCH_INDEX=...) makes the image smaller by gigabytes.
ARG TORCH_INDEX
RUN /opt/parlink/bin/pip install --no-cache-dir --constraint constraints.txt torch ${TORCH_INDEX:+--index-url $TORCH_INDEX}
RUN /opt/parlink/bin/pip install --no-cache-dir --constraint constraints.txt '.[serve]'

FROM python:3.11-slim
RUN useradd --system --uid 10001 parlink
COPY --from=build /opt/parlink /opt/parlink
ENV PATH=/opt/parlink/bin:$PATH OMP_NUM_THREADS=1 PARLINK_CACHE=/tmp/parlink HF_HUB_OFFLINE=1
USER 10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["parlink", "serve", "--host", "0.0.0.0", "--port", "8000"]
