/** The operations that upload reports, one per format. */
import type { AnyElysia } from 'elysia';
import { rejectedCount } from '../../domain/rejections.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { FORMATS } from '../../formats/formats.ts';
import { type Http, mount, type RawBodyDescription } from '../../http/operation.ts';
import { type Gateway, noteRefusal, takeUpload } from '../gateway.ts';
import { INGEST_TAG, NO_ROOM, repositoryPath, TOO_LARGE, takenSchema } from '../schemas.ts';
import { reportQuery } from './query.ts';

export function mountReports(app: AnyElysia, http: Http, deps: Gateway): void {
  for (const format of FORMATS) mountFormat(app, http, deps, format);
}

function mountFormat(app: AnyElysia, http: Http, deps: Gateway, format: ReportFormat): void {
  mount(app, http, 'POST', `/v1/ci/:owner/repositories/:repository/${format.name}`, {
    operationId: `upload${pascalCase(format.name)}Report`,
    tag: INGEST_TAG,
    summary: `Upload ${format.title} reports`,
    description: `${format.description} Takes a report, or several as the files of a form. The same report of the same run, attempt, pipeline and job counts once, however often it is sent: give \`run_id\`, and a \`report\` to each shard.`,
    access: 'upload',
    isRateLimited: false,
    params: repositoryPath,
    query: reportQuery,
    rawBody: bodyOf(format),
    responses: {
      202: {
        description: 'Queued. The receipt says when it is stored.',
        schema: takenSchema,
        headers: {
          location: { description: 'Address of the receipt.', schema: { type: 'string', format: 'uri' } },
        },
      },
      413: TOO_LARGE,
      503: NO_ROOM,
    },
    onRefusal: ({ params: { owner, repository: name }, credential, url }, error) =>
      noteRefusal(deps, { repository: { owner, name }, format: format.name, credential, url }, error),
    handle: async ({ params, query, request, credential, url }) => {
      const { owner, repository } = params;
      const contentType = request.headers.get('content-type');
      const input = { kind: 'report', format: format.name, contentType, query } as const;
      const taken = await takeUpload(deps, { owner, name: repository }, { request, credential }, input);
      if (isFromGate(request)) noteGate(deps, { owner, name: repository });
      const { uploadId, executions, rejections, warnings, isCutShort } = taken;
      const location = `${http.publicUrl ?? url.origin}/v1/ci/${owner}/repositories/${repository}/uploads/${uploadId}`;
      return {
        status: 202,
        headers: { location },
        body: {
          id: uploadId,
          status: 'queued',
          executions,
          rejected: rejectedCount(rejections),
          rejections,
          warnings,
          is_cut_short: isCutShort,
          url: location,
        },
      };
    },
  });
}

/** The client says so: src/client/service.ts. */
const isFromGate = ({ headers }: Request): boolean =>
  /^ci-insights\/\S{1,40} gate$/.test(headers.get('user-agent') ?? '');

/** Outside of the request: if the note fails, the upload does not. */
function noteGate({ noteGate, log }: Gateway, repository: { owner: string; name: string }): void {
  noteGate?.(repository).catch((err: unknown) => log.debug({ err, ...repository }, 'that the gate ran was not noted'));
}

/** `go-test` → `GoTest` */
const pascalCase = (name: string): string =>
  name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const bodyOf = ({ title, mediaTypes, example }: ReportFormat): RawBodyDescription => ({
  description: `A ${title} report, or a form with a report in each file. With or without \`Content-Encoding: gzip\`.`,
  content: {
    [mediaTypes[0]]: { schema: { type: 'string' }, example: example.text },
    'multipart/form-data': {
      schema: { type: 'object', additionalProperties: { type: 'string', format: 'binary' } },
      example: { [example.file]: example.text },
    },
  },
});
