import { describe, expect, it, onTestFinished } from 'vitest';
import {
  addStagnantSession,
  createCommandBench,
} from '../../test/support/command-bench.ts';
import { nameSession, shortId } from './describe-session.ts';

const one = '01a1de92-59b9-7ad0-bd28-ba40e58e34db';
const neighbour = '01a1de92-59ba-7ad1-a001-ba40e68e34db';

describe('V11: the name of a session', () => {
  it('V11: neighbours begin alike, so the short id is the end, and as long as it must be', () => {
    expect(shortId(one)).toBe('8e34db');
    expect(shortId(one, [one, '01a1de92-59ba-7ad1-a001-000000000000'])).toBe('8e34db');
    expect(shortId(one, [one, neighbour])).toBe('58e34db');
    expect(shortId(neighbour, [one, neighbour])).toBe('68e34db');
  });

  it('V11: what people can type as it is stays whole, and so does what they cannot', () => {
    expect(shortId('alpha-0001')).toBe('alpha-0001');
    const odd = 'ses_0123456789abcdef --all';
    expect(shortId(odd)).toBe(odd);
  });

  it('V11: a title is cleaned and cut', () => {
    const name = nameSession({ id: one, title: `\u001b[31mred\n${'x'.repeat(100)}` });
    expect(name).toMatch(/^8e34db “red x+…”$/u);
    expect(name.length).toBeLessThan(80);
  });

  it('V11: lists show both, a command takes either end of an id, and --json has the whole id', async () => {
    const bench = createCommandBench();
    onTestFinished(() => bench.close());
    for (const id of [one, neighbour]) await addStagnantSession(bench, id);
    const { out } = await bench.run('status');
    for (const name of ['58e34db', '68e34db'])
      expect(out).toContain(`${name}  “Build the parser” · scripted`);
    const found = JSON.parse((await bench.run('plan', 'show', '58e34db', '--json')).out);
    expect(found).toMatchObject({ session: one, title: 'Build the parser' });
    expect((await bench.run('plan', 'show', neighbour.slice(0, 13))).out).toContain(
      'Plan of session 8e34db “',
    );
    const { err, code } = await bench.run('why', '8e34db');
    expect(code).toBe(1);
    expect(err).toContain('"8e34db" is the start or the end of more than one session: ');
    expect(err).toContain('58e34db (“Build the parser”, scripted');
    const listed = JSON.parse((await bench.run('status', '--json')).out);
    expect(listed.sessions[0]).toMatchObject({
      id: neighbour,
      title: 'Build the parser',
    });
  });

  it('P17: what a server of our tools kept until the host was known is not listed once the host has it', async () => {
    const bench = createCommandBench();
    onTestFinished(() => bench.close());
    await addStagnantSession(bench, one);
    const server = await bench.host({
      sessionId: neighbour,
      descriptor: { host: 'mcp' },
    });
    await server.open();
    const ids = async () =>
      JSON.parse((await bench.run('status', '--json')).out).sessions.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids()).toContain(neighbour);
    await server.happens({ type: 'session-deleted' });
    expect(await ids()).toEqual([one]);
  });
});
