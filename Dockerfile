# An image with nothing but the program, certificate authorities and an unprivileged user:
#
#   docker build --build-arg VERSION=$(git describe --tags --always) --tag dray .

FROM node:22-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY internal/web /src/internal/web
COPY web ./
RUN npm run --silent build

FROM golang:1.26-bookworm AS build
ARG VERSION=dev
ENV CGO_ENABLED=0
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
COPY docs docs
COPY --from=web /src/internal/web/dist internal/web/dist
RUN go build -trimpath -buildvcs=false -ldflags "-s -w -X dray/internal/app.Version=$VERSION" -o /out/dray ./cmd/dray
RUN mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/dray /dray
COPY --from=build --chown=65532:65532 /out/data /data
ENV DRAY_DATA=/data DRAY_LISTEN=0.0.0.0:8080
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s CMD ["/dray", "health"]
ENTRYPOINT ["/dray"]
CMD ["serve"]
