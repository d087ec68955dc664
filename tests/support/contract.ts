/**
 * The OpenAPI document as a contract: every answer of the app in a test must match what the document says about the
 * operation: a documented status, its media type, a body that matches the schema. An address or a method that is not in the
 * document must be refused as such.
 */
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';

/** Served beside the operations: the document and its page. */
const DOCS = /^\/docs(?:\/|$)/;

interface Media {
  schema?: object;
}
interface Answer {
  content?: Record<string, Media>;
}
interface Documented {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>;
}

/** The parts of a request that the contract depends on. */
export interface Asked {
  method: string;
  pathname: string;
}

export class Contract {
  readonly #paths: { pattern: RegExp; path: string; methods: Documented['paths'][string] }[];
  readonly #ajv = new Ajv({ strict: false, validateFormats: false });

  constructor(document: Documented) {
    this.#ajv.addSchema({ ...document, $id: 'document' });
    this.#paths = Object.entries(document.paths)
      .map(([path, methods]) => ({
        path,
        methods,
        pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]*')}$`),
      }))
      // A literal segment wins over a parameter, like in a router.
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  }

  /** The fault of the answer, in a sentence; undefined if there is none. The body is read from a copy. */
  async breach({ method, pathname }: Asked, response: Response): Promise<string | undefined> {
    const path = pathname.replace(/^\/\/+/, '/');
    const found = this.#paths.find(({ pattern }) => pattern.test(path));
    const name = `${method} ${path} answered ${response.status}`;
    if (!found)
      return DOCS.test(path) || response.status === 404 ? undefined : `${name}: the document has no such path`;
    const operation = found.methods[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (!operation)
      return response.status === 405 && response.headers.has('allow') ? undefined : `${name}: no such method there`;
    const answer = operation.responses[String(response.status)];
    if (!answer) return `${name}: the document knows ${Object.keys(operation.responses).join(', ')} only`;
    const body = await response.clone().text();
    if (method === 'HEAD') return body === '' ? undefined : `${name}: with a body`;
    return this.#bodyBreach(name, answer, body, response, [
      'paths',
      found.path,
      method.toLowerCase(),
      'responses',
      String(response.status),
    ]);
  }

  #bodyBreach(name: string, { content }: Answer, body: string, response: Response, place: string[]) {
    if (!content) return body === '' ? undefined : `${name}: with a body, and the document has none`;
    const type = response.headers.get('content-type')?.split(';')[0] ?? 'no media type';
    const media = content[type];
    if (!media) return `${name}: ${type}; the document knows ${Object.keys(content).join(', ')} only`;
    if (!media.schema || !/[/+]json$/.test(type)) return undefined;
    const validate = this.#validator([...place, 'content', type, 'schema']);
    if (validate(JSON.parse(body))) return undefined;
    return `${name}: ${this.#ajv.errorsText(validate.errors)} in ${body.slice(0, 500)}`;
  }

  #validator(place: readonly string[]): ValidateFunction {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = this.#ajv.getSchema(`document#/${pointer}`);
    if (!validate) throw new Error(`the document has nothing at ${pointer}`);
    return validate;
  }
}

const contracts = new Map<string, Contract>();

/** The contract of an app; apps with equal documents share one, because its schemas are slow to compile. */
export async function contractOf(app: { handle(request: Request): Promise<Response> }): Promise<Contract> {
  const text = await (await app.handle(new Request('http://contract.test/docs/json'))).text();
  const known = contracts.get(text);
  if (known) return known;
  const made = new Contract(JSON.parse(text) as Documented);
  contracts.set(text, made);
  return made;
}
