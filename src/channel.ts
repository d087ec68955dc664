/**
 * Calls between two processes of the service, over a pipe in each direction. Each side may call the other, any number at
 * a time. Both belong to one version of the service, so what crosses is trusted as the rest of the program is.
 */
import { UserError } from './errors.ts';
import { decodeFrames, encodeFrame } from './frames.ts';

/** A message: besides plain values it has bytes, which JSON would make larger and slower. */
export interface Message {
  value?: unknown;
  body?: Uint8Array;
}

export type Handlers = Readonly<Record<string, (value: never, body: Uint8Array) => Promise<Message>>>;

/** One direction of the pipe. */
export interface Output {
  write(bytes: Uint8Array): unknown;
  flush(): unknown;
}

interface Head {
  /** Which call this is, or answers. */
  id: number;
  /** Name of the called function; undefined for an answer. */
  name?: string;
  value?: unknown;
  error?: SentError;
}

interface SentError {
  message: string;
  code?: string;
  isForUser: boolean;
}

/** The other side has ended, or never began. */
class ChannelClosed extends Error {
  override name = 'ChannelClosed';
  constructor() {
    super('the other process of the service has ended');
  }
}

export class Channel {
  readonly #calls = new Map<number, PromiseWithResolvers<Message>>();
  #lastId = 0;
  #isClosed = false;

  constructor(
    private readonly output: Output,
    private readonly handlers: Handlers,
  ) {}

  /** Throws what the handler on the other side threw, and {@link ChannelClosed}. */
  call(name: string, { value, body }: Message = {}): Promise<Required<Message>> {
    if (this.#isClosed) return Promise.reject(new ChannelClosed());
    const id = ++this.#lastId;
    const called = Promise.withResolvers<Message>();
    this.#calls.set(id, called);
    this.#send({ id, name, value }, body);
    return called.promise.then((answer) => ({ value: undefined, body: new Uint8Array(), ...answer }));
  }

  /** Serves calls and takes answers until the input ends. Then no call is answered any more. */
  async read(input: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const { head, body } of decodeFrames(input)) this.#take(JSON.parse(head) as Head, body);
    } finally {
      this.#isClosed = true;
      for (const { reject } of this.#calls.values()) reject(new ChannelClosed());
      this.#calls.clear();
    }
  }

  #take(head: Head, body: Uint8Array): void {
    if (head.name !== undefined) {
      void this.#serve(head.id, head.name, head.value, body);
      return;
    }
    const called = this.#calls.get(head.id);
    this.#calls.delete(head.id);
    if (head.error) called?.reject(received(head.error));
    else called?.resolve({ value: head.value, body });
  }

  async #serve(id: number, name: string, value: unknown, body: Uint8Array): Promise<void> {
    try {
      const handler = this.handlers[name];
      if (!handler) throw new Error(`there is no call ${name}`);
      const answer = await handler(value as never, body);
      this.#send({ id, value: answer.value }, answer.body);
    } catch (error) {
      this.#send({ id, error: sendable(error) });
    }
  }

  /** The pieces of a frame stay together: nothing is awaited between them. */
  #send(head: Head, body?: Uint8Array): void {
    if (this.#isClosed) return;
    for (const piece of encodeFrame(head, body)) ignoring(this.output.write(piece));
    ignoring(this.output.flush());
  }
}

/** A pipe that breaks also ends the input, which is where it is noticed. */
function ignoring(written: unknown): void {
  if (written instanceof Promise) written.catch(() => {});
}

const sendable = (error: unknown): SentError => ({
  message: error instanceof Error ? error.message : String(error),
  ...(error instanceof Error && 'code' in error && typeof error.code === 'string' && { code: error.code }),
  isForUser: error instanceof UserError,
});

function received({ message, code, isForUser }: SentError): Error {
  if (isForUser) return new UserError(message);
  return code === undefined ? new Error(message) : Object.assign(new Error(message), { code });
}
