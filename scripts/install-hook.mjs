// Sets the folder of Git hooks of this checkout. Does nothing outside a checkout, or if a folder is
// already set.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const isSet = () =>
  spawnSync('git', ['config', 'core.hooksPath'], { stdio: 'ignore' }).status === 0;
if (existsSync('.git') && !isSet())
  spawnSync('git', ['config', 'core.hooksPath', '.githooks'], { stdio: 'ignore' });
