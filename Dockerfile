# DEEM Studio for CPUs. It listens on every address of the container, so it starts in shared mode: a private space for
# each browser (SECURITY.md). Build and start it with: docker compose up --build
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /src
RUN python -m venv /opt/deem
ENV PATH=/opt/deem/bin:$PATH
# The small PyTorch first: requirements.txt keeps it. TORCH_INDEX is the address that the selector on pytorch.org gives for
# CPU; without it pip takes the default build, which works too but brings gigabytes of CUDA libraries.
ARG TORCH_INDEX=""
COPY requirements.txt requirements-core.txt ./
RUN if [ -n "$TORCH_INDEX" ]; then \
      pip install --no-cache-dir --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)"; \
    fi \
    && pip install --no-cache-dir -r requirements.txt
COPY . .
RUN pip install --no-cache-dir --no-deps .

FROM python:${PYTHON}-slim
RUN useradd --create-home --uid 10001 deem \
    && install --directory --owner deem --group deem --mode 0700 /data
COPY --from=build /opt/deem /opt/deem
ENV PATH=/opt/deem/bin:$PATH \
    DEEM_HOME=/data \
    NUMBA_CACHE_DIR=/tmp/numba \
    PYTHONUNBUFFERED=1
USER deem
WORKDIR /home/deem
VOLUME /data
EXPOSE 8501
STOPSIGNAL SIGINT
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["deem-studio", "app", "--server.address=0.0.0.0", "--server.port=8501", "--server.headless=true"]
