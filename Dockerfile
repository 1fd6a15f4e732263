# syntax=docker/dockerfile:1
# One static binary in an empty image. Build: docker build -t rest-mcp .
FROM rust:1-bookworm AS build
WORKDIR /build
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY benches/layout benches/layout
COPY benches/pgo benches/pgo
COPY benches/release benches/release
# The C library is linked in. Names are resolved through /etc/hosts and /etc/resolv.conf, which the container runtime
# supplies; nothing else of the system is read. `tests/static/run` tries this binary in an empty root.
RUN benches/release/build -C strip=symbols && cp target/release/rest-mcp /rest-mcp \
    && mkdir -p /root-fs/etc /root-fs/config \
    && echo 'rest-mcp:x:65532:65532::/:/none' > /root-fs/etc/passwd \
    && echo 'rest-mcp:x:65532:' > /root-fs/etc/group

FROM scratch
COPY --from=build /root-fs/ /
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /rest-mcp /rest-mcp
USER 65532:65532
WORKDIR /config
EXPOSE 8080
# Asks the address that /config/rest-mcp.yaml names.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["/rest-mcp", "healthcheck"]
ENTRYPOINT ["/rest-mcp"]
CMD ["serve"]
