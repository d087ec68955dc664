import { describe, expect, test } from 'bun:test';
import { parseRedisUrl } from '../../src/queue/redis-url.ts';

describe('REDIS_URL', () => {
  test.each([
    ['redis://cache', { kind: 'single', hosts: [{ host: 'cache', port: 6379 }], isTls: false, database: 0 }],
    ['redis://cache/', { kind: 'single', hosts: [{ host: 'cache', port: 6379 }], database: 0 }],
    ['rediss://app:a%2Fb%40c@cache:7000/3', { isTls: true, username: 'app', password: 'a/b@c', database: 3 }],
    [
      'redis://:only%3Apassword:too@[::1]:7000',
      { hosts: [{ host: '::1', port: 7000 }], username: undefined, password: 'only:password:too' },
    ],
    [
      'redis+sentinel://:secret@a:26379,b/main/2?sentinel_password=other%21',
      {
        kind: 'sentinel',
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 26_379 },
        ],
        masterName: 'main',
        database: 2,
        password: 'secret',
        sentinelPassword: 'other!',
      },
    ],
    [
      'rediss+cluster://a,b:7001',
      {
        kind: 'cluster',
        isTls: true,
        hosts: [
          { host: 'a', port: 6379 },
          { host: 'b', port: 7001 },
        ],
      },
    ],
  ])('%s is understood', (url, expected) => {
    expect(parseRedisUrl(url)).toMatchObject(expected);
  });

  test.each([
    'http://cache',
    'redis://',
    'redis://a,b',
    'redis://cache:0',
    'redis://cache:65536',
    'redis://cache/one',
    'redis://cache/1/2',
    'redis+sentinel://a:26379',
    'redis+cluster://a/1',
    'redis+cluster://a,,b',
    'redis://us%er@cache:1x',
    'redis://%zz@cache',
  ])('%s is refused', (url) => {
    expect(parseRedisUrl(url)).toBeUndefined();
  });
});
