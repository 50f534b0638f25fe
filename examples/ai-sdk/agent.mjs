// An agent whose commands bailiff judges and runs: node agent.mjs 'What is in my workspace?'

import { generateText, isStepCount } from 'ai';
import { bailiff } from './bailiff.mjs';

const { terminal, judge } = bailiff({
  url: process.env.BAILIFF_URL,
  token: process.env.BAILIFF_TOKEN,
  session: { id: 'agent-1', platform: 'cli', user_id: 'ana' },
});
const { text } = await generateText({
  model: process.env.MODEL,
  prompt: process.argv[2],
  stopWhen: isStepCount(10),
  ...judge({ terminal }),
});
console.log(text);
