/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All parameters of MQSim's ssdconfig.xml.
 *
 * MQSIM(parent element, identifier, name, kind, argument)
 *
 * Kinds: COUNT, BYTES and TIME (in ns) set the parameter that the argument names; SHARE does so for
 * a fraction. WORD translates MQSim's word: "victim GREEDY=greedy" sets victim to greedy. LOWER
 * sets the parameter to MQSim's word in lower case. ONLY refuses all values but the words of the
 * argument. PART and FACTOR, which may have decimals, are values that make a parameter together
 * with others. EFFECTLESS values do not change results that both simulators have, UNMODELLED ones
 * change MQSim's times alone. There is no include guard on purpose.
 */
MQSIM(HOST, PCIE_LANE_BANDWIDTH, "PCIe_Lane_Bandwidth", FACTOR, NULL)
MQSIM(HOST, PCIE_LANE_COUNT, "PCIe_Lane_Count", PART, NULL)
MQSIM(HOST, SATA_PROCESSING_DELAY, "SATA_Processing_Delay", EFFECTLESS, NULL)
MQSIM(HOST, ENABLE_RESPONSETIME_LOGGING, "Enable_ResponseTime_Logging", EFFECTLESS, NULL)
MQSIM(HOST, RESPONSETIME_LOGGING_PERIOD_LENGTH, "ResponseTime_Logging_Period_Length",
	EFFECTLESS, NULL)
MQSIM(DEVICE, SEED, "Seed", COUNT, "seed")
MQSIM(DEVICE, ENABLED_PRECONDITIONING, "Enabled_Preconditioning",
	WORD, "fill false=sequential true=random")
MQSIM(DEVICE, MEMORY_TYPE, "Memory_Type", ONLY, "FLASH")
MQSIM(DEVICE, HOSTINTERFACE_TYPE, "HostInterface_Type", ONLY, "NVME")
MQSIM(DEVICE, IO_QUEUE_DEPTH, "IO_Queue_Depth", EFFECTLESS, NULL)
MQSIM(DEVICE, QUEUE_FETCH_SIZE, "Queue_Fetch_Size", UNMODELLED, NULL)
MQSIM(DEVICE, CACHING_MECHANISM, "Caching_Mechanism", ONLY, "ADVANCED SIMPLE")
MQSIM(DEVICE, DATA_CACHE_SHARING_MODE, "Data_Cache_Sharing_Mode", ONLY, "SHARED")
MQSIM(DEVICE, DATA_CACHE_CAPACITY, "Data_Cache_Capacity", BYTES, "buffer")
MQSIM(DEVICE, DATA_CACHE_DRAM_ROW_SIZE, "Data_Cache_DRAM_Row_Size", UNMODELLED, NULL)
MQSIM(DEVICE, DATA_CACHE_DRAM_DATA_RATE, "Data_Cache_DRAM_Data_Rate", UNMODELLED, NULL)
MQSIM(DEVICE, DATA_CACHE_DRAM_DATA_BUSRT_SIZE, "Data_Cache_DRAM_Data_Busrt_Size", UNMODELLED, NULL)
MQSIM(DEVICE, DATA_CACHE_DRAM_TRCD, "Data_Cache_DRAM_tRCD", UNMODELLED, NULL)
MQSIM(DEVICE, DATA_CACHE_DRAM_TCL, "Data_Cache_DRAM_tCL", UNMODELLED, NULL)
MQSIM(DEVICE, DATA_CACHE_DRAM_TRP, "Data_Cache_DRAM_tRP", UNMODELLED, NULL)
MQSIM(DEVICE, ADDRESS_MAPPING, "Address_Mapping", ONLY, "PAGE_LEVEL")
MQSIM(DEVICE, IDEAL_MAPPING_TABLE, "Ideal_Mapping_Table", ONLY, "false true")
MQSIM(DEVICE, CMT_CAPACITY, "CMT_Capacity", PART, NULL)
MQSIM(DEVICE, CMT_SHARING_MODE, "CMT_Sharing_Mode", ONLY, "SHARED")
MQSIM(DEVICE, PLANE_ALLOCATION_SCHEME, "Plane_Allocation_Scheme", LOWER, "stripe")
MQSIM(DEVICE, TRANSACTION_SCHEDULING_POLICY, "Transaction_Scheduling_Policy",
	ONLY, "PRIORITY_OUT_OF_ORDER OUT_OF_ORDER")
MQSIM(DEVICE, OVERPROVISIONING_RATIO, "Overprovisioning_Ratio", SHARE, "op")
MQSIM(DEVICE, GC_EXEC_THRESHOLD, "GC_Exec_Threshold", SHARE, "gc")
MQSIM(DEVICE, GC_BLOCK_SELECTION_POLICY, "GC_Block_Selection_Policy",
	WORD, "victim GREEDY=greedy RGA=d_choices FIFO=fifo")
MQSIM(DEVICE, USE_COPYBACK_FOR_GC, "Use_Copyback_for_GC", ONLY, "false")
MQSIM(DEVICE, PREEMPTIBLE_GC_ENABLED, "Preemptible_GC_Enabled", ONLY, "false")
MQSIM(DEVICE, GC_HARD_THRESHOLD, "GC_Hard_Threshold", EFFECTLESS, NULL)
MQSIM(DEVICE, DYNAMIC_WEARLEVELING_ENABLED, "Dynamic_Wearleveling_Enabled", ONLY, "true")
MQSIM(DEVICE, STATIC_WEARLEVELING_ENABLED, "Static_Wearleveling_Enabled", ONLY, "false true")
MQSIM(DEVICE, STATIC_WEARLEVELING_THRESHOLD, "Static_Wearleveling_Threshold", PART, NULL)
MQSIM(DEVICE, PREFERRED_SUSPEND_ERASE_TIME_FOR_READ, "Preferred_suspend_erase_time_for_read",
	UNMODELLED, NULL)
MQSIM(DEVICE, PREFERRED_SUSPEND_ERASE_TIME_FOR_WRITE, "Preferred_suspend_erase_time_for_write",
	UNMODELLED, NULL)
MQSIM(DEVICE, PREFERRED_SUSPEND_WRITE_TIME_FOR_READ, "Preferred_suspend_write_time_for_read",
	UNMODELLED, NULL)
MQSIM(DEVICE, FLASH_CHANNEL_COUNT, "Flash_Channel_Count", COUNT, "channels")
MQSIM(DEVICE, FLASH_CHANNEL_WIDTH, "Flash_Channel_Width", PART, NULL)
MQSIM(DEVICE, CHANNEL_TRANSFER_RATE, "Channel_Transfer_Rate", PART, NULL)
MQSIM(DEVICE, CHIP_NO_PER_CHANNEL, "Chip_No_Per_Channel", COUNT, "chips")
MQSIM(DEVICE, FLASH_COMM_PROTOCOL, "Flash_Comm_Protocol", ONLY, "NVDDR2")
MQSIM(FLASH, FLASH_TECHNOLOGY, "Flash_Technology", ONLY, "SLC MLC TLC")
MQSIM(FLASH, CMD_SUSPENSION_SUPPORT, "CMD_Suspension_Support",
	WORD, "suspend NONE=off PROGRAM=program ERASE=erase PROGRAM_ERASE=both")
MQSIM(FLASH, PAGE_READ_LATENCY_LSB, "Page_Read_Latency_LSB", PART, NULL)
MQSIM(FLASH, PAGE_READ_LATENCY_CSB, "Page_Read_Latency_CSB", PART, NULL)
MQSIM(FLASH, PAGE_READ_LATENCY_MSB, "Page_Read_Latency_MSB", PART, NULL)
MQSIM(FLASH, PAGE_PROGRAM_LATENCY_LSB, "Page_Program_Latency_LSB", PART, NULL)
MQSIM(FLASH, PAGE_PROGRAM_LATENCY_CSB, "Page_Program_Latency_CSB", PART, NULL)
MQSIM(FLASH, PAGE_PROGRAM_LATENCY_MSB, "Page_Program_Latency_MSB", PART, NULL)
MQSIM(FLASH, BLOCK_ERASE_LATENCY, "Block_Erase_Latency", TIME, "erase")
MQSIM(FLASH, BLOCK_PE_CYCLES_LIMIT, "Block_PE_Cycles_Limit", EFFECTLESS, NULL)
MQSIM(FLASH, SUSPEND_ERASE_TIME, "Suspend_Erase_Time", PART, NULL)
MQSIM(FLASH, SUSPEND_PROGRAM_TIME, "Suspend_Program_Time", PART, NULL)
MQSIM(FLASH, DIE_NO_PER_CHIP, "Die_No_Per_Chip", COUNT, "dies")
MQSIM(FLASH, PLANE_NO_PER_DIE, "Plane_No_Per_Die", COUNT, "planes")
MQSIM(FLASH, BLOCK_NO_PER_PLANE, "Block_No_Per_Plane", COUNT, "blocks")
MQSIM(FLASH, PAGE_NO_PER_BLOCK, "Page_No_Per_Block", PART, NULL)
MQSIM(FLASH, PAGE_CAPACITY, "Page_Capacity", BYTES, "page")
MQSIM(FLASH, PAGE_METADAT_CAPACITY, "Page_Metadat_Capacity", EFFECTLESS, NULL)
