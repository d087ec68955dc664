/** The app with its gateway and a worker: uploads go in as clients send them, answers come out. */

import { gatewayOf } from '../../src/features.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { junit } from '../../src/formats/junit/format.ts';
import type { Feature } from '../../src/http/operation.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { openTestApp, type TestApp } from './http.ts';
import { IngestDriver } from './ingest.ts';
import { openTestStores, uniqueRepository } from './stores.ts';

type Body = NonNullable<RequestInit['body']>;

export interface Receipt {
  status: string;
  accepted: number;
  duplicate: number;
  rejected: number;
  rejections: { reason: string; count: number }[];
  warnings: string[];
}

export class Uploads {
  private constructor(
    readonly app: TestApp,
    readonly driver: IngestDriver,
  ) {}

  static async open(features: readonly Feature[] = []): Promise<Uploads> {
    const stores = await openTestStores();
    const app = await openTestApp({
      features: [(elysia, http) => mountIngest(elysia, http, gatewayOf(stores)), ...features],
    });
    return new Uploads(app, new IngestDriver(stores));
  }

  /** A repository that no other test uses, and the address of its insights. */
  repository(): { owner: string; name: string; base: string } {
    const { owner, name } = uniqueRepository();
    this.driver.watch({ owner, name });
    return { owner, name, base: `/v1/ci/${owner}/repositories/${name}` };
  }

  /** Sends an OTLP export, gzip and protobuf, as the recorded ones are. */
  otlp(base: string, body: Uint8Array): Promise<Response> {
    const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
    return this.app.request(`${base}/traces`, { method: 'POST', headers, body: body as Body });
  }

  /** Sends a JUnit report and returns the address of its receipt. Throws with any answer but 202. */
  junit(base: string, xml: string | Uint8Array, query: Record<string, string> = {}): Promise<string> {
    return this.report(junit, base, xml, query);
  }

  /** Sends a report of any format, as {@link junit} does. */
  async report(
    format: ReportFormat,
    base: string,
    body: string | Uint8Array,
    query: Record<string, string> = {},
  ): Promise<string> {
    const search = new URLSearchParams({
      pipeline_name: 'CI',
      job_name: 'unit',
      branch: 'main',
      run_id: '1',
      ...query,
    });
    const response = await this.app.request(`${base}/${format.name}?${search}`, {
      method: 'POST',
      headers: { 'content-type': format.mediaTypes[0] },
      body: body as Body,
    });
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as { url: string }).url;
  }

  /** Sends a report and returns its receipt once it is stored. */
  async store(base: string, xml: string | Uint8Array, query: Record<string, string> = {}): Promise<Receipt> {
    const url = await this.junit(base, xml, query);
    await this.driver.settle();
    return this.app.get<Receipt>(url);
  }

  async close(): Promise<void> {
    // Workers that stay would take the jobs of later tests.
    await this.driver.verify().finally(() => this.driver.stop());
  }
}

/** A report of one suite; each case has the content of its element, or nothing for a pass. */
export function junitReport(cases: readonly { name: string; inside?: string }[]): string {
  const escaped = (text: string): string => text.replace(/[&<>"\n]/g, (character) => `&#${character.codePointAt(0)};`);
  const elements = cases.map(
    ({ name, inside = '' }) => `<testcase name="${escaped(name)}" time="0.1">${inside}</testcase>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="suite">${elements.join('\n')}</testsuite></testsuites>`;
}
