// Asks for the decision as OPA's own client does, and prints the outcome, or that there is none: URL TOKEN.
import { OPAClient } from '@open-policy-agent/opa';

const [url, token] = process.argv.slice(2);
const input = { tool: 'terminal', args: { command: 'ls' }, session: { id: 's1', platform: 'telegram', user_id: '42' } };
try {
  const { outcome } = await new OPAClient(url, { headers: { Authorization: `Bearer ${token}` } }).evaluate('bailiff/decision', input);
  console.log(outcome);
} catch (error) {
  console.log(`none: ${error}`);
}
