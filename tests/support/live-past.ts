/** Sends the history that a host has of a repository as if it were live: each result when it was made, to a service with that clock. */
import { rmSync } from 'node:fs';
import { v7 as uuid7 } from 'uuid';
import { AnswerCache } from '../../src/client/import/answer-cache.ts';
import { github } from '../../src/client/import/github/github.ts';
import { gitlab } from '../../src/client/import/gitlab/gitlab.ts';
import type { ImportHost } from '../../src/client/import/host.ts';
import { HostClient } from '../../src/client/import/host-client.ts';
import { hostSource } from '../../src/client/import/host-source.ts';
import type { ImportedPullRequest, ImportedReport, ImportSource } from '../../src/client/import/item.ts';
import { searchOf } from '../../src/client/upload-query.ts';
import { formatOf } from '../../src/formats/recognise.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { makeEventsJob } from './events.ts';
import { makeFolder } from './folder.ts';
import { IngestDriver } from './ingest.ts';
import type { Get } from './said.ts';
import { openServiceApp } from './service-app.ts';
import { closeTestStores, openTestStores } from './stores.ts';

/** Results are judged after so many reports at the latest, as they would be within seconds. */
const REPORTS_BETWEEN = 40;

interface History {
  kind: 'github' | 'gitlab';
  /** The address of the API. */
  url: string;
  token: string;
  /** `owner/name`, on the host as in the service. */
  path: string;
  /** Milliseconds since the epoch. */
  since: number;
}

export interface Live {
  get: Get;
  reports: number;
  pullRequests: number;
  stop(): Promise<void>;
}

export async function sendLive(history: History): Promise<Live> {
  const { reports, pullRequests, close } = await readAll(history);
  const [owner = '', name = ''] = history.path.split('/');
  const stores = await openTestStores();
  const app = await openServiceApp();
  const driver = new IngestDriver(stores);
  const repository = { host: 'github.com', owner, name };
  const sends = [
    ...reports.map((report) => ({ at: report.arrivedAt, send: () => upload(report) })),
    ...pullRequests.map((pull) => ({ at: Date.parse(pull.merged_at ?? pull.updated_at), send: () => deliver(pull) })),
  ].sort((one, other) => one.at - other.at);

  async function upload(report: ImportedReport): Promise<void> {
    const body = await report.read();
    const format = report.format ?? (await formatOf(body))?.name;
    const address = `/v1/ci/${history.path.replace('/', '/repositories/')}/${format}?${searchOf(report.query)}`;
    const response = await app.requestUnchecked(address, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body,
    });
    if (response.status !== 202) throw new Error(`${address} answered ${response.status}: ${await response.text()}`);
  }

  async function deliver({ merged_at, merged_by, ...version }: ImportedPullRequest): Promise<void> {
    const event = {
      ...{ key: `merge ${version.number}`, type: 'action.merge', trigger: merged_by ? `@${merged_by}` : 'import' },
      ...{ pull_request: version.number, base_ref: version.base_ref },
      metadata: { branch: version.base_ref, commit: version.merge_commit },
    };
    const job = makeEventsJob(repository, merged_at ? [event] : [], { pull_requests: [version] });
    await stores.producers.of(prEvents).add(job, uuid7());
    // An event has the time at which a worker takes it.
    await driver.settle();
  }

  for (const [i, { at, send }] of sends.entries()) {
    stores.clock.set(at);
    await send();
    if (i % REPORTS_BETWEEN === REPORTS_BETWEEN - 1) await driver.settle();
  }
  await driver.settle();
  stores.clock.set(Date.now());
  return {
    ...{ get: app.get, reports: reports.length, pullRequests: pullRequests.length },
    stop: async () => {
      await driver.stop();
      await app.stop();
      await closeTestStores();
      close();
    },
  };
}

/** With the names that an import gives them. */
async function readAll({ kind, url, token, path, since }: History) {
  const folder = makeFolder('live-past');
  const open = <Run, Gathered>(host: ImportHost<Run, Gathered>): ImportSource => {
    const client = new HostClient(
      { name: host.title, url, headers: host.headersOf(token) },
      {
        ...{ patienceMs: 60_000, cache: new AnswerCache(`${folder}/answers`), onWait: () => {} },
        signal: new AbortController().signal,
      },
    );
    const limits = { artifactBytesMax: Number.POSITIVE_INFINITY, readsLogs: false };
    return hostSource(host, { client, path, since, until: Date.now(), folder: `${folder}/artifacts`, ...limits });
  };
  const source = kind === 'github' ? open(github) : open(gitlab);
  const reports: ImportedReport[] = [];
  const pullRequests: ImportedPullRequest[] = [];
  for await (const item of source.items(() => false)) {
    if (item.kind === 'pull_request') pullRequests.push(item.pullRequest);
    if (item.kind !== 'report') continue;
    // Its artifact leaves the disk when the next run is read.
    const body = await item.read();
    reports.push({ ...item, read: async () => body });
  }
  return { reports, pullRequests, close: () => rmSync(folder, { recursive: true, force: true }) };
}
