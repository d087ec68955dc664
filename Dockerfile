# The service without the embedded engines: it needs PostgreSQL and ClickHouse, and preferably Redis or Valkey.
FROM oven/bun:1.4.5-slim AS dependencies
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY packages ./packages
# chdb and embedded-postgres are optional dependencies: 300 MiB that this image does not use. Peers are types, or are listed in
# package.json. Types, source maps and documents are more than half of what is left; licences stay.
RUN bun install --frozen-lockfile --production --omit=optional --omit=peer --ignore-scripts \
  && find node_modules -type f ! -iname 'licen[cs]e*' ! -iname 'notice*' \
    \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' -o -name '*.md' -o -name '*.mdx' -o -name '*.tsbuildinfo' \) -delete

# Tailwind's scanner is an optional dependency, so this stage installs all of them, and leaves them behind.
FROM oven/bun:1.4.5-slim AS web
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY packages ./packages
RUN bun install --frozen-lockfile --ignore-scripts
COPY src ./src
COPY web ./web
RUN bun web/build.ts

FROM oven/bun:1.4.5-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/tmp/ci-insights
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY sql ./sql
COPY src ./src
COPY workers ./workers
COPY --from=web /app/web/dist ./web/dist
RUN ln -s /app/src/cli.ts /usr/local/bin/ci-insights
# `bun`, as a number: Kubernetes cannot see that a name is not root.
USER 1000
EXPOSE 3000
# Checks that it is alive, not ready: replacing this container does not help a store that is down. A worker listens on METRICS_PORT.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["bun", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.PORT}/healthz/live`)).ok ? 0 : 1)"]
# The exec form, so that SIGTERM reaches the service, which then finishes requests and jobs.
ENTRYPOINT ["ci-insights"]
CMD ["serve"]
