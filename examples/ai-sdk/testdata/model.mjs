// Gives whoever names a model by a word one that wishes for a command and repeats what
// it printed.
import { MockLanguageModelV4 } from 'ai/test';

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const says = (part, unified) => ({ content: [part], finishReason: { unified }, usage, warnings: [] });

globalThis.AI_SDK_DEFAULT_PROVIDER = {
  specificationVersion: 'v4',
  languageModel: name => new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      if (last.role === 'tool') return says({ type: 'text', text: `${name}: ${JSON.stringify(last.content[0].output)}` }, 'stop');
      const input = JSON.stringify({ command: last.content[0].text });
      return says({ type: 'tool-call', toolCallId: 'call-1', toolName: 'terminal', input }, 'tool-calls');
    },
  }),
};
