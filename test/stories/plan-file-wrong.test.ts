// `run --plan` with a file that is no plan: one sentence that says what to do, and
// nothing is started.
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptProject } from '../support/accept-project.ts';
import { document, honestWork, runPlan, setPlanStage } from './plan-file-stage.ts';

describe('a file that is no plan', () => {
  it.each<[string, string | null, RegExp]>([
    ['is not there', null, /The plan file PLAN\.md cannot be found \(ENOENT\)\./],
    [
      'has no task list',
      '# Words\n\n- a list\n',
      /has no task list: write a line such as `- \[ \] Write/,
    ],
    [
      'has broken front matter',
      '---\nchecks: [\n---\n- [ ] One\n',
      /is wrong: line \d+: the front matter is not YAML/,
    ],
    [
      'has a broken check',
      '- [ ] One\n  - check:\n',
      /is wrong: line 2: this check is empty\./,
    ],
    [
      'names an unknown check',
      '- [ ] One\n  check: make\n',
      /asks in line 1 for the check make, .*check: `make`\./,
    ],
    [
      'has an unknown goal check',
      '---\nchecks: unit\n---\n- [ ] One\n',
      /asks in its front matter for the check unit/,
    ],
    [
      'has a title without end',
      `- [ ] ${'x'.repeat(5000)}\n`,
      /line 1: the todo has a title of 5000 bytes/,
    ],
    ['is no text', 'a\u0000\ud800', /PLAN\.md/],
  ])(
    'C1: that %s: one sentence, exit code 2, and nothing is started',
    async (_word, text, sentence) => {
      const stage = await setPlanStage({ steps: honestWork });
      if (text !== null) stage.write('PLAN.md', text);
      const told = await stage.run(runPlan);
      expect(told).toMatchObject({ code: 2, events: [] });
      expect(told.err).toMatch(sentence);
      expect(told.err.trimEnd().split('\n')).toHaveLength(1);
      expect(stage.requests()).toEqual([]);
      expect(existsSync(stage.state)).toBe(false);
    },
  );

  it('C1: a folder, a file outside, a link to one, and a protected file are refused alike', async () => {
    const stage = await setPlanStage({
      steps: honestWork,
      files: { 'PLAN.md': document },
    });
    writeFileSync(join(stage.root, '..', 'theirs.md'), document);
    symlinkSync('../theirs.md', join(stage.root, 'link.md'));
    const said = async (file: string): Promise<string> => {
      const told = await stage.run(['--plan', file]);
      expect(told).toMatchObject({ code: 2, events: [] });
      return told.err;
    };
    expect(await said('.git')).toMatch(/The plan file \.git is not a regular file\./);
    expect(await said('../theirs.md')).toMatch(/lies outside this directory/);
    expect(await said('link.md')).toMatch(/lies outside this directory/);
    expect(await said('.')).toMatch(/is not a regular file/);
    expect(await said('')).toMatch(/is not a regular file/);
    expect(await said('no\u001b[2Jfile.md')).not.toContain('\u001b');
    expect(existsSync(stage.state)).toBe(false);
    stage.write('untildone.json', '{"protect": ["*.md"]}');
    acceptProject(stage.state, stage.root);
    expect(await said('PLAN.md')).toMatch(/is among the protected paths/);
  });
});
