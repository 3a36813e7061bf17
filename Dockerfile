# The command `surefoot` and nothing else: `docker run --rm -v "$PWD":/data surefoot validate problem.toml`.
FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /surefoot
COPY . .
RUN cargo build --profile dist --locked --package surefoot-cli

FROM scratch
COPY --from=build /surefoot/target/dist/surefoot /surefoot
COPY LICENSE-MIT LICENSE-APACHE /
# Nobody in particular; the folder with the tables belongs to whoever runs the container (--user).
USER 65534:65534
WORKDIR /data
ENTRYPOINT ["/surefoot"]
