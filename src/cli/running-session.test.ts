import { describe, expect, it, onTestFinished } from 'vitest';
import { createCommandBench } from '../../test/support/command-bench.ts';
import type { Event } from '../core/events.ts';

function openBench() {
  const bench = createCommandBench();
  onTestFinished(bench.close);
  const begin = async (
    sessionId: string,
    descriptor: object = {},
    words = `Work as ${sessionId}.`,
  ) => {
    const host = await bench.host({
      sessionId,
      descriptor: { host: 'claude-code', ...descriptor },
    });
    await host.open();
    await host.says(words);
    await bench.clock.advance(60_000);
    return host;
  };
  return { bench, begin };
}

describe('C3: the session of a host that a command without a session takes', () => {
  it('C3: is the one whose record is in the middle of a turn, although another was active later', async () => {
    const { bench, begin } = openBench();
    await begin('works-0001');
    const ended = await begin('ended-0001');
    await ended.plans('Write it');
    await ended.stops({ end: 'cancelled' });
    await ended.happens({ type: 'human-aborted', how: 'Esc' });
    expect((await bench.run('pause')).out).toContain('Session works-0001');
    expect((await bench.run('resume')).out).toContain(
      'Session works-0001 “Work as works-0001.” is resumed.',
    );
  });

  it('C3: is the one whose newest message still waits in the inbox, and none that was interrupted since', async () => {
    const { bench, begin } = openBench();
    const ids = ['works-0001', 'esc-000001', 'ended-0001'];
    for (const id of ids) {
      const host = await begin(id);
      await host.stops({ end: 'cancelled' });
      await host.happens({ type: 'human-aborted', how: 'Esc' });
    }
    const store = await bench.store();
    // As the hook at a message of the human leaves it until the next stop.
    const spoken = {
      messageId: 'm-2',
      turnId: 'm-2',
      text: 'Go on.',
      fingerprint: null,
      policyHash: null,
    };
    const tell = (sessionId: string, more: object) =>
      store.append([
        {
          sessionId,
          id: `${sessionId} ${bench.clock.now()}`,
          at: bench.clock.now(),
          ...more,
        } as Event,
      ]);
    for (const id of ids.slice(0, 2)) await tell(id, { type: 'human-spoke', ...spoken });
    await bench.clock.advance(1000);
    await tell('esc-000001', { type: 'human-aborted', how: 'Esc' });
    const { out } = await bench.run('pause');
    expect(out).toContain('Session works-0001');
    expect(out).not.toContain('nothing runs here');
  });

  it('C3: is neither a subagent nor a session that its host closed', async () => {
    const { bench, begin } = openBench();
    await begin('main-00001');
    await begin('helper-001', { kind: 'subagent', parentId: 'main-00001' });
    const closed = await begin('closed-001');
    await closed.happens({ type: 'session-closed' });
    expect((await bench.run('stop')).out).toContain('Session main-00001');
  });

  it('C3: is not chosen among several: they are listed with title, host and age, and a hostile title cannot control the terminal', async () => {
    const { bench, begin } = openBench();
    await begin('first-0001');
    await begin('second-001', { host: 'opencode' }, '\u001b]0;owned\u0007Build\nit');
    const third = await begin('third-0001');
    await third.happens({ type: 'human-aborted', how: 'Esc' });
    const { code, out, err } = await bench.run('stop');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(
      'untildone: 2 sessions run here: second-001 (“Build it”, OpenCode, 2 min ago), first-0001 (“Work as first-0001.”, Claude Code, 3 min ago). Name one of them: `untildone stop second-001`.\n',
    );
  });

  it('C3: is for resume the one that is held; several that are held in the middle of a turn are listed', async () => {
    const { bench, begin } = openBench();
    await begin('held-00001');
    await bench.run('pause', 'held-00001');
    await begin('works-0001');
    expect((await bench.run('resume')).out).toContain(
      'Session held-00001 “Work as held-00001.” is resumed.',
    );
    for (const id of ['held-00001', 'works-0001']) await bench.run('pause', id);
    const refused = await bench.run('resume');
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(
      /^untildone: 2 sessions run here: .*Name one of them: `untildone resume (held|works)-0+1`\.$/mu,
    );
  });
});
