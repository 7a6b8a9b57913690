// What happens to a countdown, and to events, when the program restarts, ends or dies.
import { describe, expect, it } from 'vitest';
import {
  createProgramStage,
  stopped,
  theSession,
} from '../../test/support/program-stage.ts';

/** A lease outlives its process by less than this. */
const afterDeath = 31_000;

describe('a program that starts again', () => {
  it('V5: goes on with the countdown of the one that died, once', async () => {
    const first = await stopped();
    await first.clock.advance(1000);
    const second = first.restarts();
    await first.clock.advance(2 * afterDeath);
    expect(second.injected).toHaveLength(1);
    expect(second.injected[0]?.options).toMatchObject({
      agent: 'build',
      model: 'scripted/model',
    });
    await first.clock.advance(600_000);
    expect([...first.injected, ...second.injected]).toHaveLength(1);
  });

  it('V5: idles of the same stop that it hears again change nothing', async () => {
    const first = await stopped();
    const second = first.restarts();
    await second.idles();
    await second.idles();
    await first.clock.advance(2 * afterDeath);
    expect([...first.injected, ...second.injected]).toHaveLength(1);
    await second.idles();
    await first.clock.advance(600_000);
    expect([...first.injected, ...second.injected]).toHaveLength(1);
  });

  it('V5: leaves a countdown of more than ten minutes ago alone and says so', async () => {
    const first = await stopped();
    const stage = await startLater(first, 11 * 60_000);
    await stage.clock.advance(60_000);
    expect(stage.injected).toEqual([]);
    expect(stage.toasts.at(-1)?.message).toContain('open (paused).');
  });

  it('V5: does not repeat a continuation that the messages show', async () => {
    const first = await stopped();
    await first.clock.advance(2000);
    expect(first.injected).toHaveLength(1);
    const second = first.restarts();
    await first.clock.advance(10 * afterDeath);
    expect(second.injected).toEqual([]);
  });

  it('P34: has not written the list that it only read again', async () => {
    const first = await stopped();
    const second = first.restarts();
    await second.says('Something else: what time is it?');
    await second.answers('Noon.');
    await second.idles();
    await first.clock.advance(60_000);
    expect(second.injected).toEqual([]);
  });

  it('E3: is not recovering because its predecessor was', async () => {
    const first = await stopped();
    await first.enforcer.markRecovering(theSession);
    const second = first.restarts();
    await first.clock.advance(2 * afterDeath);
    await second.says('continue');
    await second.answers();
    await second.idles();
    await first.clock.advance(2000);
    expect(second.injected).toHaveLength(1);
  });

  it('V5: a second copy beside it has countdowns of its own', async () => {
    const first = await stopped();
    const { clock, store } = first.options;
    await first.clock.advance(3000);
    const copy = createProgramStage({
      clock: first.clock,
      ...(store === undefined ? {} : { store }),
    });
    expect(clock).toBeDefined();
    copy.todos = [{ content: 'another todo' }];
    await copy.emits({
      type: 'message.updated',
      sessionId: 'session-2',
      message: { id: 'm', role: 'user', text: 'Go.' },
    });
    await copy.emits({ type: 'session.idle', sessionId: 'session-2' });
    await first.clock.advance(2000);
    expect(copy.injected.map(({ sessionId }) => sessionId)).toEqual(['session-2']);
    expect(first.injected).toHaveLength(1);
  });

  /** Dead for so long: the one in between ends before it can take anything over. */
  async function startLater(
    first: Awaited<ReturnType<typeof stopped>>,
    milliseconds: number,
  ) {
    const between = first.restarts();
    await between.enforcer.dispose();
    await first.clock.advance(milliseconds);
    return between.restarts();
  }
});

describe('a clean end', () => {
  it('V5: cancels the countdown, and nothing is sent by anyone', async () => {
    const first = await stopped();
    await first.enforcer.dispose();
    await first.enforcer.dispose();
    const second = first.restarts();
    await first.clock.advance(10 * afterDeath);
    expect([...first.injected, ...second.injected]).toEqual([]);
    await second.enforcer.dispose();
    expect(first.clock.pending()).toBe(0);
  });

  it('V5: events that come too late are left out', async () => {
    const first = await stopped();
    const ending = first.enforcer.dispose();
    await first.idles();
    await ending;
    await first.idles();
    await first.works();
    await first.clock.advance(60_000);
    expect(first.injected).toEqual([]);
    expect(first.errors).toEqual([]);
  });
});

describe('a program that is slow to take a text', () => {
  it('V5: does not hold up others, and counts as having taken it', async () => {
    let sent = 0;
    const stage = await stopped({
      inject: () => {
        sent += 1;
        return new Promise(() => {});
      },
    });
    await stage.clock.advance(4000);
    await stage.answers('Working.');
    await stage.clock.advance(60_000);
    expect(sent).toBe(1);
  });

  it('G9: is told again when it refuses, at once or late', async () => {
    for (const delay of [0, 3000]) {
      const sent: string[] = [];
      const stage = await stopped({
        inject: (_id, _text, { key }) => {
          sent.push(key);
          return new Promise((_resolve, reject) => {
            stage.clock.wake(stage.clock.now() + delay, () => reject(new Error('busy')));
          });
        },
      });
      await stage.clock.advance(2000 + delay + 600);
      expect(sent, 'as soon as it is known').toHaveLength(2);
      await stage.clock.advance(60_000);
      expect(sent, `after ${delay} ms`).toHaveLength(3);
      expect(new Set(sent).size).toBe(1);
    }
  });
});
