"""Ways to route other than the paper's, a file each.

All are called as (u_hat [B, I, J, D_out], iterations) -> v [B, J, D_out].
"""
