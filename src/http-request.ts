/**
 * One HTTP request over `node:http`, which Node and Bun have in common: `fetch` of Node 20 knows no proxies. They come
 * from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. Certificates are always verified.
 */
import type { IncomingHttpHeaders } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers: Record<string, string>;
  body?: Uint8Array | undefined;
  /** From now until the whole answer is here. */
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** The whole answer took longer than allowed. */
class RequestTimeout extends Error {
  override name = 'RequestTimeout';
}

/** Larger than any answer of the service, so that a wrong address cannot fill the memory of the job. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Any status is an answer. Throws an error named `RequestTimeout`, or the error of the connection. */
export async function sendRequest(url: URL, { method, headers, body, timeoutMs }: HttpRequest): Promise<HttpAnswer> {
  const agent = await proxyAgent(url);
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const sent = request(url, {
      method,
      headers: { ...headers, ...(body && { 'content-length': String(body.byteLength) }) },
      rejectUnauthorized: true,
      ...(agent && { agent }),
    });
    const timer = setTimeout(() => sent.destroy(new RequestTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    sent.on('error', fail);
    sent.on('response', (response) => {
      const parts: Uint8Array[] = [];
      let size = 0;
      response.on('data', (part: Uint8Array) => {
        size += part.byteLength;
        if (size > ANSWER_BYTES_MAX) sent.destroy(new Error('the answer is too large'));
        else parts.push(part);
      });
      response.on('error', fail);
      response.on('aborted', () => fail(new Error('the connection was closed before the answer was complete')));
      response.on('end', () => {
        clearTimeout(timer);
        const text = Buffer.concat(parts).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sent.end(body);
  });
}

const agents = new Map<string, HttpsProxyAgent<string>>();

async function proxyAgent(url: URL): Promise<HttpsProxyAgent<string> | undefined> {
  const proxy = getProxyForUrl(url.href);
  if (!proxy) return undefined;
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  const known = agents.get(proxy) ?? new HttpsProxyAgent(proxy);
  agents.set(proxy, known);
  return known;
}
