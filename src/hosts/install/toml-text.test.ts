import { describe, expect, it } from 'vitest';
import { Refusal } from './files.ts';
import { applyToml, parseToml, removeToml, type TomlEdit } from './toml-text.ts';

const toolOn: TomlEdit = {
  kind: 'table',
  path: ['tools', 'update_plan'],
  value: { enabled: true },
};
const server: TomlEdit = {
  kind: 'table',
  path: ['mcp_servers', 'untildone'],
  value: { command: '/usr/bin/node', args: ['/s "x"/é.js', 'mcp'], env: { A: 'b\\c' } },
  named: true,
};
const trust: TomlEdit = {
  kind: 'table',
  named: true,
  path: ['hooks', 'state', '/home/me/.codex/hooks.json:stop:0:0'],
  value: { trusted_hash: 'sha256:1' },
};
const always = () => true;

const files = {
  empty: '',
  'without a line end': 'model = "x"',
  'with comments and tables': `# mine
model = "x" # best

[tools]
view = true

[[hooks.Stop]]   # own
[[hooks.Stop.hooks]]
command = """
[tools.update_plan]
"""
# the end
`,
  'with lines of Windows': 'model = "x"\r\n\r\n[a.b]\r\nc = { d = [1,\r\n 2] }\r\n',
  'that ends in a blank line': '[a]\nb = 1\n\n',
};

describe.each(Object.entries(files))('a TOML file %s', (_name, text) => {
  const edits = [toolOn, server, trust];

  it('C1: gets our tables behind what it holds, and a second time nothing changes', () => {
    const after = edits.reduce(applyToml, text);
    expect(after.startsWith(text)).toBe(true);
    expect(parseToml(after)).toMatchObject({
      ...parseToml(text),
      tools: { update_plan: { enabled: true } },
      mcp_servers: { untildone: server.value },
      hooks: {
        state: { '/home/me/.codex/hooks.json:stop:0:0': { trusted_hash: 'sha256:1' } },
      },
    });
    expect(edits.reduce(applyToml, after)).toBe(after);
    expect(after.replaceAll('\r\n', '').includes('\n')).toBe(!text.includes('\r\n'));
  });

  it('C1: loses them again, in any order, though another program wrote behind them', () => {
    const added = '[projects."/p"]\ntrust_level = "trusted"\n';
    const after = edits.reduce(applyToml, text) + added;
    for (const order of [edits, [...edits].reverse()]) {
      const left = order.reduce((one, edit) => removeToml(one, edit, always), after);
      expect(left.endsWith(added)).toBe(true);
      expect(left.slice(0, -added.length).trimEnd()).toBe(text.trimEnd());
    }
    const alone = edits.reduceRight(
      (one, edit) => removeToml(one, edit, always),
      edits.reduce(applyToml, text),
    );
    expect(alone.trimEnd()).toBe(text.trimEnd());
  });
});

describe('what a person wrote in TOML', () => {
  it('C2: stays under a key that is not named for us', () => {
    const text = '[tools.update_plan] # off\nenabled = false # mine\n';
    expect(applyToml(text, toolOn)).toBe(text);
    expect(removeToml(text, toolOn, always)).toBe(text);
  });

  it('C1: a key joins a table that is there, and goes alone', () => {
    const text = '[tools.update_plan] # mine\n# why\nother = 1\n';
    const after = applyToml(text, toolOn);
    expect(after).toBe('[tools.update_plan] # mine\nenabled = true\n# why\nother = 1\n');
    expect(removeToml(after, toolOn, always)).toBe(text);
  });

  it('C1: our value under a name of ours is renewed in its place; what they added beside it stays', () => {
    const text = `[hooks.state."/home/me/.codex/hooks.json:stop:0:0"]\nenabled = false\ntrusted_hash = 'old' # x\n\n[z]\n`;
    expect(applyToml(text, trust)).toBe(text.replace("'old'", '"sha256:1"'));
    expect(removeToml(text, trust, always)).toBe('\n[z]\n');
  });

  it('C1: of a server that another program wrote anew, its tables go too', () => {
    const text =
      '[mcp_servers.untildone]\ncommand = "x"\n\n[mcp_servers.untildone.env]\nA = "b"\n\n[mcp_servers.other]\n';
    expect(removeToml(text, server, always)).toBe('\n[mcp_servers.other]\n');
  });

  it('C1: a table stays that was there before us, though it is empty now', () => {
    expect(removeToml('[tools.update_plan]\nenabled = true\n', toolOn, () => false)).toBe(
      '[tools.update_plan]\n',
    );
  });

  it.each([
    ['a = \n', /^is not valid TOML: line 2, column 1/],
    ['tools = { update_plan = { other = 1 } }\n', /^has "tools.update_plan" in a form/],
    ['tools = 1\n', /^has "tools.update_plan" in a form/],
  ])('C1: %j is refused', (text, sentence) => {
    const change = () => applyToml(text, toolOn);
    expect(change).toThrow(Refusal);
    expect(change).toThrow(sentence);
  });
});
