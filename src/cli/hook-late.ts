// The part of a hook that most calls never need: the engine, the checks, and what lies in layers that hosts do not
// reach. The build keeps it apart, so that it costs nothing before it is asked for; see scripts/late-modules.ts.
import { endsInQuestion } from '../core/ends-in-question.ts';
import { answerCall } from '../hosts/hook/answer-call.ts';
import { appendFailure } from '../hosts/hook/hook-log.ts';
import type { LatePart } from '../hosts/hook/run-hook.ts';
import { bindReceipt } from '../mcp/bind-receipt.ts';

const parts = { bindReceipt, endsInQuestion };

export const latePart: LatePart = {
  answerCall: (host, hook, call, store) => answerCall(host, hook, call, store, parts),
  appendFailure,
};
