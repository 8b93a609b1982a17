// Tells Git where the hooks of this checkout are. Does nothing outside a checkout, and leaves hooks
// that somebody has set up already.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const isSet = () =>
  spawnSync('git', ['config', 'core.hooksPath'], { stdio: 'ignore' }).status === 0;
if (existsSync('.git') && !isSet())
  spawnSync('git', ['config', 'core.hooksPath', '.githooks'], { stdio: 'ignore' });
