/** The answer to an export, in the encoding of the request (OTLP/HTTP specification, "Response"). */
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { Rejection } from '../../domain/rejections.ts';
import { rejectedCount } from '../../domain/rejections.ts';
import { ExportTraceServiceResponseSchema } from './gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';

export type OtlpEncoding = 'protobuf' | 'json';

export const OTLP_MEDIA_TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** Has a `partial_success` only if spans were refused; without one, all were accepted. */
export function exportResponse(
  encoding: OtlpEncoding,
  rejections: readonly Rejection[],
): Uint8Array<ArrayBuffer> | string {
  const rejectedSpans = rejectedCount(rejections);
  const errorMessage = rejections.map(({ reason, count }) => `${reason} (${count})`).join('; ');
  const response = create(
    ExportTraceServiceResponseSchema,
    rejectedSpans === 0 ? {} : { partialSuccess: { rejectedSpans: BigInt(rejectedSpans), errorMessage } },
  );
  return encoding === 'json'
    ? toJsonString(ExportTraceServiceResponseSchema, response)
    : toBinary(ExportTraceServiceResponseSchema, response);
}
