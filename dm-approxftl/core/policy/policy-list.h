/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policies, one for each line: POLICY(name) is implemented by aftl_policy_name. Include with
 * POLICY defined; no include guard on purpose.
 */
POLICY(baseline)
POLICY(delta_b)
POLICY(vth_b)
POLICY(approxftl)
POLICY(pageftl)
POLICY(vertftl)
POLICY(cubeftl)
POLICY(cubeftl_minus)
POLICY(traditional)
POLICY(li)
POLICY(agcr)
POLICY(tvr)
POLICY(tlc)
POLICY(ressd)
POLICY(hybrid)
POLICY(streams)
POLICY(separated)
POLICY(density)
POLICY(lending)
POLICY(ips)
POLICY(levels)
POLICY(sepbit)
POLICY(midas)
