/** What CI jobs ask of a repository: one method for each address of the API that the client uses. */
import { z } from 'zod';
import type { Service, ServiceRequest } from './service.ts';

/** The fields of a receipt, of which the answer to an upload has some. Counts are null while unknown. */
const receiptSchema = z.object({
  id: z.string(),
  status: z.string(),
  executions: z.number().nullish(),
  accepted: z.number().nullish(),
  duplicate: z.number().nullish(),
  rejected: z.number().nullish(),
  rejections: z.array(z.object({ reason: z.string(), count: z.number() })).default([]),
  warnings: z.array(z.string()).default([]),
  failure: z.string().nullish(),
});
export type Receipt = z.infer<typeof receiptSchema>;

export class Repository {
  constructor(
    readonly service: Service,
    readonly owner: string,
    readonly name: string,
  ) {}

  /** Sends a gzipped body to an address of uploads, such as `junit?run_id=1`. */
  upload(path: string, contentType: string, gzipped: Uint8Array): Promise<Receipt> {
    const headers = { 'content-type': contentType, 'content-encoding': 'gzip' };
    return this.ask(path, receiptSchema, { method: 'POST', headers, body: gzipped });
  }

  receipt(id: string): Promise<Receipt> {
    return this.ask(`uploads/${id}`, receiptSchema);
  }

  ask<T>(path: string, schema: z.ZodType<T>, request?: ServiceRequest): Promise<T> {
    return this.service.ask(`/v1/ci/${this.owner}/repositories/${this.name}/${path}`, schema, request);
  }
}
