import { describe, expect, it } from 'vitest';
import { commandEnvironment } from './process.ts';

describe('commandEnvironment', () => {
  it('passes on a short list, marks the session, and keeps every secret back', () => {
    const source = {
      PATH: '/bin',
      HOME: '/home/me',
      LC_ALL: 'C.UTF-8',
      TERM: 'xterm-256color',
      ANTHROPIC_API_KEY: 'secret',
      AWS_SECRET_ACCESS_KEY: 'secret',
      SSH_AUTH_SOCK: '/run/agent',
      NODE_OPTIONS: '--require ./evil.js',
      UNTILDONE_SESSION: 'outer',
      HTTPS_PROXY: 'http://proxy:8080',
      HTTP_PROXY: 'http://me:secret@proxy:8080',
      GOPATH: '/go',
    };
    expect(commandEnvironment(source, 's1', ['GOPATH'])).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      LC_ALL: 'C.UTF-8',
      HTTPS_PROXY: 'http://proxy:8080',
      GOPATH: '/go',
      TERM: 'dumb',
      NO_COLOR: '1',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      GIT_TERMINAL_PROMPT: '0',
      UNTILDONE_SESSION: 's1',
    });
  });
});
