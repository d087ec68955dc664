/** A small HTTP/1.1 client over one connection with keep-alive: it costs far less than what it measures. */

import { type Answer, answerIn } from './http-answer.ts';

/** Connects, and returns a function that sends a request and waits for its answer. */
export async function connect(origin: string): Promise<(request: string) => Promise<Answer>> {
  const { hostname, port } = new URL(origin);
  let received: Uint8Array = new Uint8Array();
  let waiting: PromiseWithResolvers<Answer> | undefined;
  const fail = (error: Error): void => waiting?.reject(error);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, data) => {
        received = received.byteLength === 0 ? new Uint8Array(data) : Buffer.concat([received, data]);
        try {
          const answer = answerIn(received);
          if (!answer) return;
          received = answer.rest;
          waiting?.resolve(answer);
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)));
        }
      },
      close: () => fail(new Error('the service closed the connection')),
      error: (_, error) => fail(error),
    },
  });
  return (request) => {
    waiting = Promise.withResolvers();
    socket.write(request);
    return waiting.promise;
  };
}

export const requestOf = (origin: string, path: string, authorization: string | undefined): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${new URL(origin).host}`,
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    '\r\n',
  ].join('\r\n');
