/** The OpenAPI 3.1 document of the mounted operations, made from the same schemas that check requests and answers. */
import { z } from 'zod';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { isRateLimited, type MountedOperation, type OperationDescription } from '../http/operation.ts';
import { addressTooLong, PROBLEM_MEDIA_TYPE } from '../http/problems.ts';
import type { ResponseDescription } from '../http/reply.ts';
import { SESSION_COOKIE } from '../http/session-cookie.ts';

type Json = Record<string, unknown>;
type JsonSchema = z.core.JSONSchema.BaseSchema;
/** Schemas that the document names once and refers to. */
type NamedSchemas = Record<string, JsonSchema>;

const SECURITY_SCHEME = 'bearer';
const SESSION_SCHEME = 'session';

const problemSchema = z.object({
  type: z.string().meta({ example: 'about:blank' }),
  title: z.string(),
  status: z.int(),
  detail: z.string().meta({ description: 'A sentence that says what to do' }),
  errors: z
    .array(
      z.object({
        loc: z
          .array(z.union([z.string(), z.int()]))
          .meta({ description: 'Where: `query`, `path` or `body`, then the name' }),
        msg: z.string(),
        type: z.string(),
      }),
    )
    .optional()
    .meta({ description: 'The problems with the input, up to 100; only with 422' }),
});

interface ErrorDescription {
  title: string;
  when: string;
  detail: string;
  errors?: Json[];
  headers?: Json;
}

/** Every operation documents 403, 404, 409 and 422, as the interface that clients know does. */
const ERRORS: Record<number, ErrorDescription> = {
  403: {
    title: 'Forbidden',
    when: 'No accepted credential, or one that does not permit this.',
    detail:
      'The credential is unknown, expired or revoked. Send the header "Authorization: Bearer <application key>" with a valid key.',
  },
  404: {
    title: 'Not found',
    when: 'It does not exist, or this credential may not see it.',
    detail: 'There is no such test in this repository. Search for it by name.',
  },
  409: {
    title: 'Conflict',
    when: 'The request conflicts with what is stored. Reads never return it.',
    detail: "Test 'Cart > totals' is already quarantined",
  },
  413: {
    title: 'Payload too large',
    when: 'The body is longer than this operation reads.',
    detail: REQUEST_LIMITS.JSON_BODY_BYTES_MAX.sentence(),
  },
  414: {
    title: 'Address too long',
    when: 'The address is too long; only long lists of long names come near it.',
    detail: addressTooLong().detail,
  },
  422: {
    title: 'Unprocessable entity',
    when: 'The input is invalid; up to 100 problems are listed.',
    detail: 'query.per_page: must be a whole number from 1 to 100.',
    errors: [{ loc: ['query', 'per_page'], msg: 'must be a whole number from 1 to 100', type: 'invalid_value' }],
  },
  429: {
    title: 'Too many requests',
    when: 'Only if the service limits requests (`RATE_LIMIT_PER_MINUTE`): this credential sent more than it may.',
    detail: 'This credential may send 600 requests in 60 seconds. Try again in 42 seconds.',
    headers: {
      'retry-after': {
        description: 'Seconds until the credential may send requests again.',
        schema: { type: 'integer', example: 42 },
      },
    },
  },
  500: {
    title: 'Internal server error',
    when: 'A fault in the service.',
    detail: 'The service failed to answer. Report the request id 5f1c to its operators.',
  },
  503: {
    title: 'Service unavailable',
    when: 'A store that the operation needs is unavailable, or too many such requests are being answered.',
    detail: 'ClickHouse is unavailable right now. Try again later.',
    headers: {
      'retry-after': { description: 'Seconds to wait before trying again.', schema: { type: 'integer', example: 5 } },
    },
  },
};

/** Answered by the server before any operation sees the request. */
const TOO_LONG = {
  431: {
    description: 'Address and headers together exceed 1 MiB. The answer has no body.',
  },
};

const COMMON_HEADERS = {
  'x-request-id': {
    description: 'Identifies this request in the logs of the service; the one that was sent, if any.',
    schema: { type: 'string', example: '0f8fad5b-d9cb-469f-a165-70867728950e' },
  },
};
const RATE_LIMIT_HEADERS = {
  'ratelimit-policy': {
    description:
      'Only if the service limits requests: how many (`q`) a credential may send in so many seconds (`w`). As in draft-ietf-httpapi-ratelimit-headers-11.',
    schema: { type: 'string', example: '"key";q=600;w=60' },
  },
  ratelimit: {
    description: 'Only if the service limits requests: how many are left (`r`), and in how many seconds all are (`t`).',
    schema: { type: 'string', example: '"key";r=599;t=42' },
  },
};
const ETAG_HEADER = {
  etag: {
    description: 'Send it as `If-None-Match` to get 304 while the answer is unchanged.',
    schema: { type: 'string', example: '"1k2j3h4g5"' },
  },
};

/** `paths` and `components` of the document. */
export function describeOperations(operations: readonly MountedOperation[]): { paths: Json; components: Json } {
  const schemas: NamedSchemas = {};
  schemas.Problem = jsonSchema(problemSchema, 'output', schemas);
  const paths: Record<string, Json> = {};
  for (const { method, path, operation } of operations) {
    const documented = path.replace(/:(\w+)/g, '{$1}');
    paths[documented] ??= {};
    paths[documented][method.toLowerCase()] = describe(operation, method === 'GET', schemas);
  }
  const securitySchemes = {
    [SECURITY_SCHEME]: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An application key: `ci-insights keys create --owner acme --scope upload`. If the service is configured for it (`HOST_AUTH`), a token of the repository host works as well.',
    },
    [SESSION_SCHEME]: {
      type: 'apiKey',
      in: 'cookie',
      name: SESSION_COOKIE,
      description:
        'The session of a person who has signed in with a browser (`POST /v1/session`); with TLS the name begins with `__Host-`. It changes something only in requests of pages of this service.',
    },
  };
  return { paths, components: { schemas, securitySchemes } };
}

function describe(operation: OperationDescription, isGet: boolean, schemas: NamedSchemas): Json {
  const isPublic = operation.access === 'public';
  const parameters = [...pathParameters(operation, schemas), ...queryParameters(operation)];
  const body = requestBody(operation, schemas);
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: isPublic ? [] : [{ [SECURITY_SCHEME]: [] }, { [SESSION_SCHEME]: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: responses(operation, isGet && !isPublic, schemas),
  };
}

function pathParameters({ params }: OperationDescription, schemas: NamedSchemas): Json[] {
  if (!params) return [];
  const { properties = {} } = jsonSchema(params, 'input', schemas);
  return Object.entries(properties).map(([name, property]) => {
    const { description, example, ...schema } = schemaOf(property);
    return {
      name,
      in: 'path',
      required: true,
      description,
      schema,
      example: example ?? schema.enum?.[0],
    };
  });
}

const queryParameters = ({ query = {} }: OperationDescription): Json[] =>
  Object.entries(query).map(([name, { schema, description, required, isRepeated, example }]) => ({
    name,
    in: 'query',
    required,
    description,
    schema,
    ...(isRepeated ? { style: 'form', explode: true } : {}),
    ...(example === undefined ? {} : { example }),
  }));

function requestBody({ body, bodyExample, rawBody }: OperationDescription, schemas: NamedSchemas): Json | undefined {
  if (rawBody) return { required: true, ...rawBody };
  if (!body) return undefined;
  const schema = jsonSchema(body, 'input', schemas);
  return {
    required: true,
    content: { 'application/json': { schema, example: bodyExample ?? exampleOf(schema, schemas) } },
  };
}

function responses(operation: OperationDescription, isConditional: boolean, schemas: NamedSchemas): Json {
  const described: Json = {};
  const isLimited = isRateLimited(operation);
  const common = { ...COMMON_HEADERS, ...(isLimited ? RATE_LIMIT_HEADERS : {}) };
  for (const [status, response] of Object.entries(operation.responses))
    described[status] = success(
      response,
      { ...(isConditional && status === '200' ? ETAG_HEADER : {}), ...common },
      schemas,
    );
  if (isConditional)
    described['304'] = {
      description: 'Not modified since the given entity tag.',
      headers: { ...ETAG_HEADER, ...common },
    };
  for (const [status, error] of Object.entries(ERRORS)) {
    if (isAnswered(status, operation) && !described[status]) described[status] = problem(Number(status), error, common);
  }
  if (operation.query) Object.assign(described, TOO_LONG);
  return described;
}

/** Whether an operation may answer with this one of {@link ERRORS}. */
function isAnswered(status: string, operation: OperationDescription): boolean {
  if (status === '413') return operation.body !== undefined;
  if (status === '414') return operation.query !== undefined;
  if (status === '429') return isRateLimited(operation) || operation.countsRequests === true;
  // Beyond its budget.
  if (status === '503' && operation.isProbe !== true) return true;
  return operation.access !== 'public' || status === '500' || operation.body !== undefined;
}

function success(response: ResponseDescription, common: Json, schemas: NamedSchemas): Json {
  const headers = { ...response.headers, ...common };
  if (!response.schema) {
    if (!response.mediaType) return { description: response.description, headers };
    const example = response.example === undefined ? {} : { example: response.example };
    const others = (response.otherMediaTypes ?? []).map((type) => [type, {}]);
    const content = { [response.mediaType]: example, ...Object.fromEntries(others) };
    return { description: response.description, headers, content };
  }
  const schema = jsonSchema(response.schema, 'output', schemas);
  const example = response.example ?? exampleOf(schema, schemas);
  const mediaType = response.mediaType ?? 'application/json';
  return { description: response.description, headers, content: { [mediaType]: { schema, example } } };
}

const problem = (status: number, { title, when, detail, errors, headers }: ErrorDescription, common: Json): Json => ({
  description: when,
  headers: { ...headers, ...common },
  content: {
    [PROBLEM_MEDIA_TYPE]: {
      schema: { $ref: '#/components/schemas/Problem' },
      example: { type: 'about:blank', title, status, detail, ...(errors ? { errors } : {}) },
    },
  },
});

/** JSON Schema of a zod schema; schemas with an id move to `schemas`. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: NamedSchemas): JsonSchema {
  const text = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  const whole: JsonSchema = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'));
  const { $schema: _, $defs = {}, ...root } = whole;
  for (const [id, definition] of Object.entries($defs)) {
    const { id: _id, ...rest } = schemaOf(definition);
    schemas[id] = rest;
  }
  return root;
}

/** JSON Schema also knows `true` and `false`, which zod never produces. */
const schemaOf = (schema: JsonSchema | boolean): JsonSchema => (typeof schema === 'boolean' ? {} : schema);

/** An example composed of the examples of the parts. */
function exampleOf(part: JsonSchema | boolean, schemas: NamedSchemas): unknown {
  const schema = schemaOf(part);
  if (schema.example !== undefined) return schema.example;
  if (schema.$ref !== undefined) return exampleOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [choice] = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => list ?? []);
  if (choice) return exampleOf(choice, schemas);
  if (schema.type === 'array') return itemsOf(schema).map((item) => exampleOf(item, schemas));
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, exampleOf(property, schemas)]),
    );
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0;
  if (schema.type === 'boolean') return true;
  return schema.type === 'object' ? {} : 'text';
}

const itemsOf = ({ items = [] }: JsonSchema): (JsonSchema | boolean)[] => (Array.isArray(items) ? items : [items]);
