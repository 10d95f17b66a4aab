# jigsawnet with its workbench, for an ordinary user; docs/platforms.md says how to run it.
FROM python:3.13-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps -w /wheels /source

FROM python:3.13-slim
COPY requirements.lock /requirements.lock
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --only-binary=:all: -c /requirements.lock "$(ls /wheels/*.whl)[web]"
ARG UID=1000
RUN useradd --uid "$UID" --create-home jigsawnet && install -d -o jigsawnet /data
USER jigsawnet
# Compiled once here, not at every start.
RUN --mount=type=bind,from=build,source=/source/examples,target=/examples \
    jigsawnet shred /examples/photo.jpg -o /tmp/try/pieces --pieces 9 \
    && jigsawnet solve /tmp/try/pieces -o /tmp/try/out && rm -r /tmp/try
WORKDIR /data
ENTRYPOINT ["jigsawnet"]
CMD ["--help"]
