/** The answer to an export, in the encoding of the request (OTLP/HTTP specification, "Response"). */
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import { rejectedCount } from '../../domain/rejections.ts';
import type { ParsedUpload } from '../../formats/upload.ts';
import { ExportTraceServiceResponseSchema } from './gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';

export type OtlpEncoding = 'protobuf' | 'json';

export const OTLP_MEDIA_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/**
 * Has a `partial_success` only if spans were refused, or if there is something to tell the sender: OTLP reads a message
 * with no refused spans as a warning.
 */
export function exportResponse(
  encoding: OtlpEncoding,
  { rejections, warnings }: Pick<ParsedUpload, 'rejections' | 'warnings'>,
): Uint8Array<ArrayBuffer> | string {
  const rejectedSpans = BigInt(rejectedCount(rejections));
  const errorMessage = [...rejections.map(({ reason, count }) => `${reason} (${count})`), ...warnings].join('; ');
  const response = create(
    ExportTraceServiceResponseSchema,
    errorMessage === '' ? {} : { partialSuccess: { rejectedSpans, errorMessage } },
  );
  return encoding === 'json'
    ? toJsonString(ExportTraceServiceResponseSchema, response)
    : toBinary(ExportTraceServiceResponseSchema, response);
}
